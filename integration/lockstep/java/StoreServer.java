package org.apache.kafka.connect.storage;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Performs sequences of steps on Kafka Connect's own stores: one sequence a line, one line of observations back.
 *
 * A line that names a store goes on with that store, every other line has a new one of its own.
 *
 * The package is that of the stores, whose state and log are not public.
 */
public final class StoreServer {
    static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, Named> NAMED = new HashMap<>();

    private StoreServer() {
    }

    /** Something that performs steps and shows what came of them. */
    interface Run {
        void perform(JsonNode step, List<String> trace) throws Exception;

        ObjectNode state() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(
            new InputStreamReader(new FileInputStream(FileDescriptor.in), StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, "UTF-8");
        System.setOut(System.err);
        String line;
        while ((line = in.readLine()) != null) {
            JsonNode sequence = JSON.readTree(line);
            out.println(JSON.writeValueAsString(answer(sequence)));
            out.flush();
        }
        System.exit(0);
    }

    /** A store, and the list into which it writes what happens. */
    private static final class Named {
        final List<String> trace = new ArrayList<>();
        final Run run;

        Named(JsonNode sequence) throws Exception {
            JsonNode options = sequence.get("options");
            run = "status".equals(sequence.get("store").asText())
                ? new StatusRun(options, trace) : new ConfigRun(options, trace);
        }
    }

    private static ArrayNode answer(JsonNode sequence) throws Exception {
        String name = textOf(sequence, "name");
        Named store = name != null && NAMED.containsKey(name) ? NAMED.get(name) : new Named(sequence);
        if (name != null) {
            NAMED.put(name, store);
        }
        List<String> trace = store.trace;
        Run run = store.run;
        ArrayNode answers = JSON.createArrayNode();
        for (JsonNode step : sequence.get("steps")) {
            trace.clear();
            try {
                run.perform(step, trace);
            } catch (Throwable thrown) {
                trace.add("THROWS " + thrown.getClass().getSimpleName());
            }
            ObjectNode answer = answers.addObject();
            answer.set("trace", JSON.valueToTree(trace));
            answer.set("state", run.state());
        }
        return answers;
    }

    /** The bytes of the record in a step: a text, or any bytes in hexadecimal; null for a tombstone. */
    static byte[] valueOf(JsonNode step) {
        if (step.has("hex")) {
            String hex = step.get("hex").asText();
            byte[] bytes = new byte[hex.length() / 2];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
            }
            return bytes;
        }
        String value = textOf(step, "value");
        return value == null ? null : value.getBytes(StandardCharsets.UTF_8);
    }

    static String textOf(JsonNode step, String field) {
        return step.hasNonNull(field) ? step.get(field).asText() : null;
    }

    static String shown(byte[] value) {
        return value == null ? "<null>" : new String(value, StandardCharsets.UTF_8);
    }

    static Object field(Object of, Class<?> in, String name) throws Exception {
        java.lang.reflect.Field field = in.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of);
    }

    static void setField(Object of, Class<?> in, String name, Object value) throws Exception {
        java.lang.reflect.Field field = in.getDeclaredField(name);
        field.setAccessible(true);
        field.set(of, value);
    }
}
