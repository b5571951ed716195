package org.apache.kafka.connect.storage;

import static org.apache.kafka.connect.storage.StoreServer.JSON;
import static org.apache.kafka.connect.storage.StoreServer.field;
import static org.apache.kafka.connect.storage.StoreServer.setField;
import static org.apache.kafka.connect.storage.StoreServer.textOf;
import static org.apache.kafka.connect.storage.StoreServer.valueOf;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.runtime.AbstractStatus;
import org.apache.kafka.connect.runtime.ConnectorStatus;
import org.apache.kafka.connect.runtime.TaskStatus;
import org.apache.kafka.connect.runtime.TopicStatus;
import org.apache.kafka.connect.util.ConnectorTaskId;
import org.apache.kafka.connect.util.Table;

/** One KafkaStatusBackingStore over a stub log and a retry thread that works when a step says so. */
final class StatusRun implements StoreServer.Run {
    private static final Class<?> STORE = KafkaStatusBackingStore.class;

    private final List<String> trace;
    private final StubStatusLog log;
    private final ManualExecutor retries;
    private final KafkaStatusBackingStore store;
    private long offset;

    StatusRun(JsonNode options, List<String> trace) throws Exception {
        this.trace = trace;
        JsonConverter converter = new JsonConverter();
        converter.configure(Collections.singletonMap("schemas.enable", "false"), false);
        log = new StubStatusLog(trace);
        retries = new ManualExecutor(trace);
        store = new KafkaStatusBackingStore(Time.SYSTEM, converter, "statuses", () -> null, log);
        java.util.concurrent.ExecutorService own =
            (java.util.concurrent.ExecutorService) field(store, STORE, "sendRetryExecutor");
        if (own != null) {
            own.shutdownNow();
        }
        setField(store, STORE, "sendRetryExecutor", retries);
    }

    @Override
    public void perform(JsonNode step, List<String> ignored) throws Exception {
        switch (step.get("op").asText()) {
            case "read":
                read(step);
                break;
            case "put":
                put(step);
                break;
            case "putTopic":
                store.put(new TopicStatus(step.get("topic").asText(), step.get("c").asText(),
                    step.get("task").asInt(), step.get("ts").asLong()));
                break;
            case "deleteTopic":
                store.deleteTopic(step.get("c").asText(), step.get("topic").asText());
                break;
            case "complete":
                log.complete(step.get("n").asInt(), step.get("outcome").asText());
                break;
            case "retry":
                retries.runOne();
                break;
            case "start":
                log.atStart(() -> step.get("records").forEach(this::read));
                store.start();
                break;
            case "flush":
                log.atFlush(step.path("outcomes"));
                store.flush();
                break;
            case "stop":
                store.stop();
                break;
            default:
                query(step);
        }
    }

    private void read(JsonNode record) {
        try {
            store.read(new ConsumerRecord<>("statuses", 0, offset++, textOf(record, "key"), valueOf(record)));
        } catch (Throwable thrown) {
            trace.add("ESCAPES callback: " + thrown.getClass().getSimpleName());
        }
        if (record.has("ask")) {
            query(record.get("ask"));
        }
    }

    private void put(JsonNode step) throws Exception {
        boolean safe = step.get("safe").asBoolean();
        AbstractStatus.State state = AbstractStatus.State.valueOf(step.get("state").asText());
        int generation = step.get("generation").asInt();
        String worker = textOf(step, "worker");
        String trace = textOf(step, "trace");
        if (step.hasNonNull("task")) {
            ConnectorTaskId id = new ConnectorTaskId(step.get("c").asText(), step.get("task").asInt());
            TaskStatus status = make(TaskStatus.class, id, state, worker, generation, trace, textOf(step, "version"));
            if (safe) {
                store.putSafe(status);
            } else {
                store.put(status);
            }
        } else {
            ConnectorStatus status = makeConnector(step, state, worker, generation, trace);
            if (safe) {
                store.putSafe(status);
            } else {
                store.put(status);
            }
        }
    }

    /** The constructor with the most parameters; the order of a connector's is another one. */
    private static ConnectorStatus makeConnector(
        JsonNode step, AbstractStatus.State state, String worker, int generation, String trace) throws Exception {
        return make(ConnectorStatus.class, step.get("c").asText(), state, trace, worker, generation,
            textOf(step, "version"), null);
    }

    @SuppressWarnings("unchecked")
    private static <T> T make(Class<T> of, Object... values) throws Exception {
        Constructor<?> longest = Arrays.stream(of.getConstructors())
            .max((one, other) -> one.getParameterCount() - other.getParameterCount()).get();
        Object[] fitting = Arrays.copyOf(values, longest.getParameterCount());
        if (of == ConnectorStatus.class) {
            boolean traceFirst = isTraceFirst();
            fitting[2] = traceFirst ? values[2] : values[3];
            fitting[3] = traceFirst ? values[3] : values[2];
        }
        return (T) longest.newInstance(fitting);
    }

    /** Both are strings, so only a trial tells them apart. */
    private static boolean isTraceFirst() throws Exception {
        Constructor<?> longest = Arrays.stream(ConnectorStatus.class.getConstructors())
            .max((one, other) -> one.getParameterCount() - other.getParameterCount()).get();
        Object[] trial = Arrays.copyOf(
            new Object[] {"c", AbstractStatus.State.RUNNING, "trace", "worker", 0}, longest.getParameterCount());
        return "trace".equals(((ConnectorStatus) longest.newInstance(trial)).trace());
    }

    private void query(JsonNode step) {
        String name = textOf(step, "c");
        switch (step.get("op").asText()) {
            case "get":
                trace.add(step.hasNonNull("task")
                    ? shown(store.get(new ConnectorTaskId(name, step.get("task").asInt()))) : shown(store.get(name)));
                break;
            case "getAll":
                trace.add(sorted(store.getAll(name)));
                break;
            case "connectors":
                trace.add(new TreeSet<>(store.connectors()).toString());
                break;
            case "getTopic":
                trace.add(shown(store.getTopic(name, textOf(step, "topic"))));
                break;
            case "getAllTopics":
                trace.add(store.getAllTopics(name).stream().map(StatusRun::shown).sorted()
                    .collect(Collectors.toList()).toString());
                break;
            default:
                throw new IllegalArgumentException(step.toString());
        }
    }

    private static String sorted(Collection<TaskStatus> statuses) {
        List<String> shown = new ArrayList<>();
        statuses.forEach(status -> shown.add(status.id() + ":" + shown(status)));
        Collections.sort(shown);
        return shown.toString();
    }

    private static String shown(AbstractStatus<?> status) {
        if (status == null) {
            return "null";
        }
        return status.state() + "/" + status.workerId() + "/" + status.generation() + "/" + status.trace() + "/"
            + version(status);
    }

    /** Releases before 4.1 know no version. */
    private static Object version(AbstractStatus<?> status) {
        try {
            return AbstractStatus.class.getMethod("version").invoke(status);
        } catch (ReflectiveOperationException absent) {
            return null;
        }
    }

    private static String shown(TopicStatus status) {
        return status == null ? "null" : status.topic() + "/" + status.connector() + "/" + status.task() + "/"
            + status.discoverTimestamp();
    }

    @Override
    public ObjectNode state() throws Exception {
        ObjectNode state = JSON.createObjectNode();
        state.put("generation", (int) field(store, STORE, "generation"));
        state.put("retries", retries.waiting());
        Map<String, String> entries = new TreeMap<>();
        for (Map.Entry<String, ?> entry : store.connectors.entrySet()) {
            entries.put(entry.getKey(), entry(entry.getValue()));
        }
        Table<String, Integer, ?> tasks = store.tasks;
        @SuppressWarnings("unchecked")
        Map<String, Map<Integer, ?>> rows = (Map<String, Map<Integer, ?>>) field(tasks, Table.class, "table");
        for (Map.Entry<String, Map<Integer, ?>> row : rows.entrySet()) {
            for (Map.Entry<Integer, ?> cell : row.getValue().entrySet()) {
                entries.put(row.getKey() + "-" + cell.getKey() + " (task)", entry(cell.getValue()));
            }
        }
        state.set("entries", JSON.valueToTree(entries));
        Map<String, Object> topics = new TreeMap<>();
        store.topics.forEach((connector, of) -> of.forEach(
            (topic, status) -> topics.put(connector + ":" + topic, shown(status))));
        state.set("topics", JSON.valueToTree(topics));
        return state;
    }

    private static String entry(Object entry) throws Exception {
        Class<?> type = entry.getClass();
        return shown((AbstractStatus<?>) field(entry, type, "value")) + " #" + field(entry, type, "sequence")
            + (((boolean) field(entry, type, "deleted")) ? " deleted" : "");
    }
}
