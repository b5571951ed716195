package org.apache.kafka.connect.storage;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.*;
import rebalancecheck.Main;

/**
 * Performs steps on one of Kafka Connect's own stores, and answers with the observations of each.
 *
 * <p>The package is that of the stores, whose state and log are not public.
 */
abstract class StoreRun implements Main.Run {
    /** The events of a step. */
    final List<String> trace = new ArrayList<>();

    abstract void perform(JsonNode step) throws Exception;

    abstract Map<String, Object> state() throws Exception;

    @Override public Object answer(JsonNode asked) throws Exception {
        List<Object> answers = new ArrayList<>();
        for (JsonNode step : asked.get("steps")) {
            trace.clear();
            try {
                perform(step);
            } catch (Throwable thrown) {
                trace.add("THROWS " + thrown.getClass().getSimpleName());
            }
            answers.add(Map.of("trace", List.copyOf(trace), "state", Main.JSON.<JsonNode>valueToTree(state())));
        }
        return answers;
    }

    /** The bytes of the record in a step: a text, or any bytes in hexadecimal; null for a tombstone. */
    static byte[] valueOf(JsonNode step) {
        if (step.has("hex")) return HexFormat.of().parseHex(step.get("hex").asText());
        String value = textOf(step, "value");
        return value == null ? null : value.getBytes(StandardCharsets.UTF_8);
    }

    static String textOf(JsonNode step, String field) {
        return step.hasNonNull(field) ? step.get(field).asText() : null;
    }
}
