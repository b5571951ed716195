package rebalancecheck;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Frames to the driver: int32 length of the rest, kind, int32 number of the frame that is answered, body. */
final class Output {
    static final char REPLY = 'r';
    static final char CLOSED = 'x';
    static final char DONE = 'c';
    static final char REFUSED = '!';
    static final char INSPECTED = 'i';
    static final char END = 'e';
    static final char THROWN = 't';

    private static final int HEADER = Integer.BYTES + 1 + Integer.BYTES;

    private final OutputStream stream;
    private ByteBuffer buffer = ByteBuffer.allocate(1 << 16);

    Output(OutputStream stream) {
        this.stream = stream;
    }

    void frame(char kind, int number, ByteBuffer body) {
        begin(kind, number, body.remaining());
        buffer.put(body.duplicate());
    }

    void frame(char kind, int number, String text) {
        frame(kind, number, ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }

    void end(int number, long nowMs, long nextDeadlineMs, int pending) {
        begin(END, number, Long.BYTES + Long.BYTES + Integer.BYTES);
        buffer.putLong(nowMs).putLong(nextDeadlineMs).putInt(pending);
    }

    private void begin(char kind, int number, int length) {
        if (buffer.remaining() < HEADER + length) {
            ByteBuffer larger = ByteBuffer.allocate(2 * (buffer.capacity() + HEADER + length));
            buffer = larger.put(buffer.flip());
        }
        buffer.putInt(HEADER - Integer.BYTES + length).put((byte) kind).putInt(number);
    }

    void flush() throws IOException {
        stream.write(buffer.array(), 0, buffer.position());
        stream.flush();
        buffer.clear();
    }
}
