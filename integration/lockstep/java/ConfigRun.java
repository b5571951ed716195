package org.apache.kafka.connect.storage;

import static org.apache.kafka.connect.storage.StoreServer.JSON;
import static org.apache.kafka.connect.storage.StoreServer.field;
import static org.apache.kafka.connect.storage.StoreServer.setField;
import static org.apache.kafka.connect.storage.StoreServer.textOf;
import static org.apache.kafka.connect.storage.StoreServer.valueOf;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import javax.crypto.spec.SecretKeySpec;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.runtime.RestartRequest;
import org.apache.kafka.connect.runtime.SessionKey;
import org.apache.kafka.connect.runtime.TargetState;
import org.apache.kafka.connect.runtime.WorkerConfig;
import org.apache.kafka.connect.runtime.distributed.DistributedConfig;
import org.apache.kafka.connect.util.Callback;
import org.apache.kafka.connect.util.ConnectorTaskId;
import org.apache.kafka.connect.util.KafkaBasedLog;

/** One KafkaConfigBackingStore over a stub log. */
final class ConfigRun implements StoreServer.Run {
    private static final Map<String, DistributedConfig> CONFIGS = new HashMap<>();

    private final List<String> trace;
    private final KafkaConfigBackingStore store;
    private final StubConfigLog log;
    private final boolean transactional;
    private String transactions;

    @SuppressWarnings("unchecked")
    ConfigRun(JsonNode options, List<String> trace) throws Exception {
        this.trace = trace;
        String exactlyOnce = options.path("exactly_once").asText("disabled");
        this.transactional = !"disabled".equals(exactlyOnce);
        JsonConverter converter = new JsonConverter();
        converter.configure(Collections.singletonMap("schemas.enable", "false"), false);
        store = new KafkaConfigBackingStore(converter, config(exactlyOnce), null, () -> null, "base-", Time.SYSTEM);
        Object real = field(store, KafkaConfigBackingStore.class, "configLog");
        Callback<ConsumerRecord<String, byte[]>> callback =
            (Callback<ConsumerRecord<String, byte[]>>) field(real, KafkaBasedLog.class, "consumedCallback");
        log = new StubConfigLog(callback, trace, options.path("partitions").asInt(1));
        store.setConfigLog(log);
        store.setUpdateListener(new TracingListener(trace));
    }

    private static DistributedConfig config(String exactlyOnce) throws Exception {
        DistributedConfig known = CONFIGS.get(exactlyOnce);
        if (known != null) {
            return known;
        }
        Map<String, String> settings = new HashMap<>();
        settings.put("bootstrap.servers", "127.0.0.1:1");
        settings.put("group.id", "g");
        settings.put("config.storage.topic", "configs");
        settings.put("offset.storage.topic", "offsets");
        settings.put("status.storage.topic", "statuses");
        settings.put("key.converter", JsonConverter.class.getName());
        settings.put("value.converter", JsonConverter.class.getName());
        settings.put("max.block.ms", "1");
        settings.put("exactly.once.source.support", exactlyOnce);
        DistributedConfig made = new DistributedConfig(settings);
        setField(made, WorkerConfig.class, "kafkaClusterId", "cluster");
        CONFIGS.put(exactlyOnce, made);
        return made;
    }

    @Override
    public void perform(JsonNode step, List<String> ignored) throws Exception {
        String name = textOf(step, "c");
        switch (step.get("op").asText()) {
            case "append":
                append(step);
                break;
            case "read":
                append(step);
                log.deliver();
                break;
            case "err":
                log.fail();
                break;
            case "start":
                store.start();
                break;
            case "stop":
                store.stop();
                break;
            case "fail":
                log.failing = textOf(step, "w");
                break;
            case "transactions":
                transactions = textOf(step, "mode");
                break;
            case "claim":
                claim();
                break;
            case "isClaimed":
                trace.add("fencableProducer " + (producer() == null ? "null" : "set"));
                break;
            default:
                call(step, name);
        }
    }

    private void append(JsonNode step) {
        if (step.hasNonNull("offset")) {
            log.nextOffset = step.get("offset").asLong();
        }
        log.append(textOf(step, "key"), valueOf(step));
    }

    private Object producer() throws Exception {
        return field(store, KafkaConfigBackingStore.class, "fencableProducer");
    }

    /** Without a stub the store makes its own producer, which finds no broker. */
    private void claim() throws Exception {
        if (transactional && transactions != null && producer() == null) {
            boolean fenced = "fenced".equals(transactions);
            setField(store, KafkaConfigBackingStore.class, "fencableProducer", StubProducer.create(log, trace, fenced));
        } else {
            store.claimWritePrivileges();
        }
    }

    private void call(JsonNode step, String name) throws Exception {
        switch (step.get("op").asText()) {
            case "putConnector":
                TargetState target =
                    step.hasNonNull("target") ? TargetState.valueOf(step.get("target").asText()) : null;
                store.putConnectorConfig(name, config(step.get("cfg")), target);
                break;
            case "remove":
                store.removeConnectorConfig(name);
                break;
            case "removeTasks":
                store.removeTaskConfigs(name);
                break;
            case "putTasks":
                List<Map<String, String>> configs = new ArrayList<>();
                step.get("cfgs").forEach(one -> configs.add(config(one)));
                store.putTaskConfigs(name, configs);
                break;
            case "putTarget":
                store.putTargetState(name, TargetState.valueOf(step.get("target").asText()));
                break;
            case "putCount":
                store.putTaskCountRecord(name, step.get("n").asInt());
                break;
            case "putRestart":
                store.putRestartRequest(new RestartRequest(
                    name, step.get("onlyFailed").asBoolean(), step.get("includeTasks").asBoolean()));
                break;
            case "putKey":
                store.putSessionKey(
                    new SessionKey(new SecretKeySpec(new byte[32], "HmacSHA256"), step.get("ts").asLong()));
                break;
            case "putLogger":
                store.putLoggerLevel(name, step.get("level").asText());
                break;
            case "refresh":
                store.refresh(step.path("ms").asLong(100), TimeUnit.MILLISECONDS);
                break;
            case "contains":
                trace.add("contains=" + store.contains(name));
                break;
            case "q":
                trace.add(answers(store.snapshot(), name));
                break;
            default:
                throw new IllegalArgumentException(step.toString());
        }
    }

    private static Map<String, String> config(JsonNode node) {
        Map<String, String> config = new LinkedHashMap<>();
        node.fields().forEachRemaining(
            entry -> config.put(entry.getKey(), entry.getValue().isNull() ? null : entry.getValue().asText()));
        return config;
    }

    private static String answers(ClusterConfigState state, String name) {
        return "contains=" + state.contains(name) + " connectorConfig=" + state.connectorConfig(name)
            + " raw=" + state.rawConnectorConfig(name) + " applied=" + state.appliedConnectorConfig(name)
            + " target=" + state.targetState(name) + " taskCount=" + state.taskCount(name)
            + " tasks=" + state.tasks(name) + " pendingFencing=" + state.pendingFencing(name)
            + " taskCountRecord=" + state.taskCountRecord(name) + " gen=" + state.taskConfigGeneration(name)
            + " rawTask0=" + state.rawTaskConfig(new ConnectorTaskId(name, 0));
    }

    @Override
    public ObjectNode state() {
        ClusterConfigState all = store.snapshot();
        ObjectNode state = JSON.createObjectNode();
        SessionKey key = all.sessionKey();
        state.put("offset", all.offset());
        state.put("sessionKey", key == null ? null : key.key().getAlgorithm() + "/" + key.key().getEncoded().length
            + "B/" + key.creationTimestamp());
        state.set("connectorTaskCounts", JSON.valueToTree(all.connectorTaskCounts));
        state.set("connectorConfigs", JSON.valueToTree(all.connectorConfigs));
        state.set("targetStates", JSON.valueToTree(all.connectorTargetStates));
        state.set("taskConfigs", JSON.valueToTree(named(all.taskConfigs)));
        state.set("taskCountRecords", JSON.valueToTree(all.connectorTaskCountRecords));
        state.set("generations", JSON.valueToTree(all.connectorTaskConfigGenerations));
        Map<String, Object> applied = new TreeMap<>();
        all.appliedConnectorConfigs.keySet().forEach(name -> applied.put(name, all.appliedConnectorConfig(name)));
        state.set("applied", JSON.valueToTree(applied));
        state.set("pendingFencing", JSON.valueToTree(new TreeSet<>(all.connectorsPendingFencing)));
        state.set("inconsistent", JSON.valueToTree(new TreeSet<>(all.inconsistentConnectors)));
        Map<String, Object> deferred = new TreeMap<>();
        store.deferredTaskUpdates.forEach((name, tasks) -> deferred.put(name, named(tasks)));
        state.set("deferred", JSON.valueToTree(deferred));
        Map<String, Object> tasks = new TreeMap<>();
        all.connectors().forEach(name -> tasks.put(name, tasks(all, name)));
        all.connectorTaskCounts.keySet().forEach(name -> tasks.put(name, tasks(all, name)));
        state.set("tasks()", JSON.valueToTree(tasks));
        return state;
    }

    private static Map<String, Object> named(Map<ConnectorTaskId, ?> tasks) {
        Map<String, Object> named = new TreeMap<>();
        tasks.forEach((task, config) -> named.put(task.toString(), config));
        return named;
    }

    private static List<String> tasks(ClusterConfigState state, String name) {
        try {
            return state.tasks(name).stream().map(ConnectorTaskId::toString).collect(Collectors.toList());
        } catch (IllegalArgumentException thrown) {
            return Collections.singletonList("THROWS IllegalArgumentException: " + thrown.getMessage());
        }
    }

    /** Writes every callback down. */
    private static final class TracingListener implements ConfigBackingStore.UpdateListener {
        private final List<String> trace;

        TracingListener(List<String> trace) {
            this.trace = trace;
        }

        private void called(String call) {
            trace.add("CALLBACK " + call);
        }

        @Override
        public void onConnectorConfigRemove(String name) {
            called("onConnectorConfigRemove(" + name + ")");
        }

        @Override
        public void onConnectorConfigUpdate(String name) {
            called("onConnectorConfigUpdate(" + name + ")");
        }

        @Override
        public void onTaskConfigUpdate(Collection<ConnectorTaskId> tasks) {
            called("onTaskConfigUpdate("
                + tasks.stream().map(ConnectorTaskId::toString).sorted().collect(Collectors.toList()) + ")");
        }

        @Override
        public void onConnectorTargetStateChange(String name) {
            called("onConnectorTargetStateChange(" + name + ")");
        }

        @Override
        public void onSessionKeyUpdate(SessionKey key) {
            called("onSessionKeyUpdate(" + key.key().getAlgorithm() + ",len=" + key.key().getEncoded().length
                + ",ts=" + key.creationTimestamp() + ")");
        }

        @Override
        public void onRestartRequest(RestartRequest request) {
            called("onRestartRequest(" + request.connectorName() + ",onlyFailed=" + request.onlyFailed()
                + ",includeTasks=" + request.includeTasks() + ")");
        }

        @Override
        public void onLoggingLevelUpdate(String namespace, String level) {
            called("onLoggingLevelUpdate(" + namespace + "," + level + ")");
        }
    }
}
