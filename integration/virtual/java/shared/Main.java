package rebalancecheck;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/**
 * Frames in, frames out, on one thread. A frame in is: int32 length of the rest, kind, int16 environment, int8 node,
 * int32 number, body. Each is done, with all that follows from it at that instant, before the next one is read; what it
 * completes is answered before its own end. What a coordinator threw outside of any request follows, under the number
 * of the environment.
 */
public final class Main {
    private static final char REQUEST = 'R';
    private static final char REQUEST_WITHOUT_END = 'Q';
    private static final char INSPECT = 'I';
    private static final char CONTROL = 'C';
    private static final int BUFFER = 1 << 16;

    private final Output output;
    private final Map<Integer, Environment> environments = new HashMap<>();

    private Main(Output output) {
        this.output = output;
    }

    public static void main(String[] arguments) throws IOException {
        SeededRandom.install();
        Output output = new Output(new FileOutputStream(FileDescriptor.out));
        System.setOut(System.err);
        new Main(output).serve(new FileInputStream(FileDescriptor.in));
    }

    private void serve(InputStream raw) throws IOException {
        BufferedInputStream buffered = new BufferedInputStream(raw, BUFFER);
        DataInputStream input = new DataInputStream(buffered);
        while (true) {
            if (buffered.available() == 0) {
                output.flush();
            }
            byte[] frame;
            try {
                frame = new byte[input.readInt()];
                input.readFully(frame);
            } catch (EOFException e) {
                return;
            }
            handle(ByteBuffer.wrap(frame));
        }
    }

    private void handle(ByteBuffer frame) {
        char kind = (char) frame.get();
        int environmentNumber = frame.getShort();
        int node = frame.get();
        int number = frame.getInt();
        try {
            if (kind == CONTROL && text(frame.duplicate()).startsWith("reset ")) {
                reset(environmentNumber, text(frame).split(" "));
                output.frame(Output.DONE, number, "");
                return;
            }
            Environment environment = environments.get(environmentNumber);
            if (environment == null) {
                throw new IllegalArgumentException("there is no environment " + environmentNumber);
            }
            environment.enter(() -> handle(environment, kind, node, number, frame));
            String thrown = environment.time.takeThrown();
            if (!thrown.isEmpty()) {
                output.frame(Output.THROWN, environmentNumber, thrown);
            }
        } catch (RuntimeException e) {
            output.frame(Output.REFUSED, number, e.toString());
        }
    }

    private void handle(Environment environment, char kind, int node, int number, ByteBuffer body) {
        switch (kind) {
            case REQUEST -> {
                environment.request(node, number, body.slice());
                environment.endMarker(number);
            }
            case REQUEST_WITHOUT_END -> environment.request(node, number, body.slice());
            case INSPECT -> environment.inspect(node, number, text(body));
            case CONTROL -> output.frame(
                Output.DONE, number, Controls.perform(environment, node, text(body).split(" ")));
            default -> throw new IllegalArgumentException("unknown kind of frame " + (int) kind);
        }
    }

    private void reset(int number, String[] words) {
        Environment before = environments.remove(number);
        if (before != null) {
            before.end();
        }
        Environment environment = new Environment(number, Controls.settings(words), output);
        environments.put(number, environment);
        environment.enter(() -> {
            environment.start(0).elect(0);
            environment.time.settle();
        });
    }

    private static String text(ByteBuffer bytes) {
        return StandardCharsets.UTF_8.decode(bytes).toString();
    }
}
