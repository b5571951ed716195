package rebalancecheck;

import com.fasterxml.jackson.databind.*;
import java.io.*;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/**
 * The one process protocol: a line of JSON in, a line of JSON back, in order, on one thread. A line names its
 * {@code run}; with {@code open}, that run begins anew with these options. The argument names the class of the runs.
 * Answers are flushed when no further line is waiting; an exception is answered as {@code refused}.
 */
public final class Main {
    public static final ObjectMapper JSON = new ObjectMapper();

    /** Made with the options of a run; answers its lines, also the one that opened it. */
    public interface Run {
        Object answer(JsonNode asked) throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        OutputStream out = new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16);
        System.setOut(System.err);
        var maker = Class.forName(arguments[0]).getConstructor(JsonNode.class);
        Map<String, Run> runs = new HashMap<>();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 16);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Object answer;
            try {
                JsonNode asked = JSON.readTree(line);
                String name = asked.path("run").asText();
                if (asked.has("open")) runs.put(name, (Run) maker.newInstance(asked.get("open")));
                if (!runs.containsKey(name)) throw new IllegalArgumentException("there is no run '" + name + "'");
                answer = runs.get(name).answer(asked);
            } catch (Exception e) {
                answer = Map.of("refused", String.valueOf(e instanceof InvocationTargetException ? e.getCause() : e));
            }
            out.write(JSON.writeValueAsBytes(answer));
            out.write('\n');
            if (!in.ready()) out.flush();
        }
        System.exit(0);
    }
}
