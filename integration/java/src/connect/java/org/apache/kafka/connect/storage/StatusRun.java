package org.apache.kafka.connect.storage;

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.Constructor;
import java.util.*;
import java.util.concurrent.*;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.runtime.*;
import org.apache.kafka.connect.util.ConnectorTaskId;
import rebalancecheck.*;

/** One KafkaStatusBackingStore over a stub log and a retry thread that works when a step says so. */
public final class StatusRun extends StoreRun {
    private final StubLog log = new StubLog(trace, 1, null);
    private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
    private final KafkaStatusBackingStore store;
    private long offset;

    public StatusRun(JsonNode options) {
        JsonConverter converter = new JsonConverter();
        converter.configure(Map.of("schemas.enable", "false"), false);
        store = new KafkaStatusBackingStore(Time.SYSTEM, converter, "statuses", () -> null, log.kafka);
        ExecutorService own = Inside.get(ExecutorService.class, store, "sendRetryExecutor");
        if (own != null) own.shutdownNow();
        Inside.set(store, "sendRetryExecutor", new Tasks(waiting::add) {
            @Override public boolean awaitTermination(long timeout, TimeUnit unit) {
                trace.add("retries.await " + unit.toMillis(timeout) + " ms");
                while (!waiting.isEmpty()) waiting.poll().run();
                return true;
            }
        });
    }

    @Override void perform(JsonNode step) throws Exception {
        switch (step.get("op").asText()) {
            case "read" -> read(step);
            case "put" -> put(step);
            case "putTopic" -> store.put(new TopicStatus(textOf(step, "topic"), textOf(step, "c"),
                step.get("task").asInt(), step.get("ts").asLong()));
            case "deleteTopic" -> store.deleteTopic(textOf(step, "c"), textOf(step, "topic"));
            case "complete" -> log.complete(step.get("n").asInt(), textOf(step, "outcome"));
            case "retry" -> { if (!waiting.isEmpty()) waiting.poll().run(); }
            case "start" -> {
                log.atStart = () -> step.get("records").forEach(this::read);
                store.start();
            }
            case "flush" -> {
                log.atFlush = () -> step.path("outcomes").forEach(outcome -> {
                    trace.add("answer");
                    log.complete(outcome.get("n").asInt(), textOf(outcome, "outcome"));
                });
                store.flush();
            }
            case "stop" -> store.stop();
            default -> query(step);
        }
    }

    private void read(JsonNode record) {
        try {
            store.read(new ConsumerRecord<>("statuses", 0, offset++, textOf(record, "key"), valueOf(record)));
        } catch (Throwable thrown) {
            trace.add("ESCAPES callback: " + thrown.getClass().getSimpleName());
        }
        if (record.has("ask")) query(record.get("ask"));
    }

    private void put(JsonNode step) throws Exception {
        boolean safe = step.get("safe").asBoolean();
        AbstractStatus.State state = AbstractStatus.State.valueOf(textOf(step, "state"));
        int generation = step.get("generation").asInt();
        String name = textOf(step, "c");
        String worker = textOf(step, "worker");
        String why = textOf(step, "trace");
        String version = textOf(step, "version");
        if (step.hasNonNull("task")) {
            ConnectorTaskId id = new ConnectorTaskId(name, step.get("task").asInt());
            TaskStatus status = make(TaskStatus.class, id, state, worker, generation, why, version);
            if (safe) store.putSafe(status);
            else store.put(status);
        } else {
            ConnectorStatus status = make(ConnectorStatus.class, name, state, why, worker, generation, version);
            if (safe) store.putSafe(status);
            else store.put(status);
        }
    }

    /** The constructor with the most parameters: releases before 4.1 know no version. */
    private static <T> T make(Class<T> of, Object... values) throws Exception {
        Constructor<?> longest = Arrays.stream(of.getConstructors())
            .max(Comparator.comparing(Constructor::getParameterCount)).get();
        return of.cast(longest.newInstance(Arrays.copyOf(values, longest.getParameterCount())));
    }

    private void query(JsonNode step) {
        String name = textOf(step, "c");
        trace.add(switch (step.get("op").asText()) {
            case "get" -> step.hasNonNull("task")
                ? shown(store.get(new ConnectorTaskId(name, step.get("task").asInt()))) : shown(store.get(name));
            case "getAll" -> store.getAll(name).stream().map(status -> status.id() + ":" + shown(status)).sorted()
                .toList().toString();
            case "connectors" -> new TreeSet<>(store.connectors()).toString();
            case "getTopic" -> shown(store.getTopic(name, textOf(step, "topic")));
            case "getAllTopics" -> store.getAllTopics(name).stream().map(StatusRun::shown).sorted().toList().toString();
            default -> throw new IllegalArgumentException(step.toString());
        });
    }

    private static String shown(AbstractStatus<?> status) {
        if (status == null) return "null";
        Object version = Inside.has(status, "version") ? Inside.get(status, "version") : null;
        return status.state() + "/" + status.workerId() + "/" + status.generation() + "/" + status.trace() + "/"
            + version;
    }

    private static String shown(TopicStatus status) {
        return status == null ? "null" : status.topic() + "/" + status.connector() + "/" + status.task() + "/"
            + status.discoverTimestamp();
    }

    @Override @SuppressWarnings("unchecked")
    Map<String, Object> state() {
        Map<String, String> entries = new HashMap<>();
        Map<String, ?> connectors = store.connectors;
        connectors.forEach((name, entry) -> entries.put(name, entry(entry)));
        Map<String, Map<Integer, ?>> rows = Inside.get(Map.class, store.tasks, "table");
        rows.forEach((name, row) -> row.forEach(
            (task, entry) -> entries.put(name + "-" + task + " (task)", entry(entry))));
        Map<String, String> topics = new HashMap<>();
        store.topics.forEach((connector, of) -> of.forEach(
            (topic, status) -> topics.put(connector + ":" + topic, shown(status))));
        return Map.of("generation", Inside.get(store, "generation"), "retries", waiting.size(),
            "entries", entries, "topics", topics);
    }

    private static String entry(Object entry) {
        return shown(Inside.get(AbstractStatus.class, entry, "value")) + " #" + Inside.get(entry, "sequence")
            + (Inside.get(Boolean.class, entry, "deleted") ? " deleted" : "");
    }
}
