package org.apache.kafka.connect.storage;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.Collectors;
import javax.crypto.spec.SecretKeySpec;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.runtime.*;
import org.apache.kafka.connect.runtime.distributed.*;
import org.apache.kafka.connect.util.Callback;
import org.apache.kafka.connect.util.ConnectorTaskId;
import rebalancecheck.Inside;

/** One KafkaConfigBackingStore over a stub log. */
public final class ConfigRun extends StoreRun {
    private static final Map<String, DistributedConfig> CONFIGS = new HashMap<>();

    private final KafkaConfigBackingStore store;
    private final StubLog log;
    private final boolean transactional;
    private final List<ProducerRecord<String, byte[]>> sent = new ArrayList<>();
    private String transactions;

    @SuppressWarnings("unchecked") public ConfigRun(JsonNode options) {
        String exactlyOnce = options.path("exactly_once").asText("disabled");
        transactional = !exactlyOnce.equals("disabled");
        JsonConverter converter = new JsonConverter();
        converter.configure(Map.of("schemas.enable", "false"), false);
        DistributedConfig config = CONFIGS.computeIfAbsent(exactlyOnce, ConfigRun::settings);
        store = new KafkaConfigBackingStore(converter, config, null, () -> null, "base-", Time.SYSTEM);
        Callback<ConsumerRecord<String, byte[]>> consumed =
            Inside.get(Callback.class, Inside.get(store, "configLog"), "consumedCallback");
        log = new StubLog(trace, options.path("partitions").asInt(1), consumed);
        store.setConfigLog(log.kafka);
        store.setUpdateListener(Inside.stub(ConfigBackingStore.UpdateListener.class, (method, arguments) -> {
            trace.add("CALLBACK " + method + "("
                + Arrays.stream(arguments).map(ConfigRun::shown).collect(Collectors.joining(",")) + ")");
            return null;
        }));
    }

    private static DistributedConfig settings(String exactlyOnce) {
        DistributedConfig made = Settings.ofWorker(Map.of(
            "bootstrap.servers", "127.0.0.1:1", "max.block.ms", "1", "exactly.once.source.support", exactlyOnce));
        Inside.set(made, "kafkaClusterId", "cluster");
        return made;
    }

    private static String shown(Object argument) {
        if (argument instanceof Collection<?> tasks) {
            return tasks.stream().map(Object::toString).sorted().toList().toString();
        } else if (argument instanceof SessionKey key) {
            return key.key().getAlgorithm() + ",len=" + key.key().getEncoded().length
                + ",ts=" + key.creationTimestamp();
        } else if (argument instanceof RestartRequest request) {
            return request.connectorName() + ",onlyFailed=" + request.onlyFailed()
                + ",includeTasks=" + request.includeTasks();
        }
        return argument.toString();
    }

    @Override void perform(JsonNode step) throws Exception {
        String name = textOf(step, "c");
        TargetState target = step.hasNonNull("target") ? TargetState.valueOf(textOf(step, "target")) : null;
        switch (step.get("op").asText()) {
            case "append" -> append(step);
            case "read" -> {
                append(step);
                log.deliver();
            }
            case "err" -> log.fail();
            case "start" -> store.start();
            case "stop" -> store.stop();
            case "fail" -> log.failing = textOf(step, "w");
            case "transactions" -> transactions = textOf(step, "mode");
            case "claim" -> claim();
            case "isClaimed" -> trace.add(
                "fencableProducer " + (Inside.get(store, "fencableProducer") == null ? "null" : "set"));
            case "putConnector" -> store.putConnectorConfig(name, config(step.get("cfg")), target);
            case "remove" -> store.removeConnectorConfig(name);
            case "removeTasks" -> store.removeTaskConfigs(name);
            case "putTasks" -> {
                List<Map<String, String>> configs = new ArrayList<>();
                step.get("cfgs").forEach(one -> configs.add(config(one)));
                store.putTaskConfigs(name, configs);
            }
            case "putTarget" -> store.putTargetState(name, target);
            case "putCount" -> store.putTaskCountRecord(name, step.get("n").asInt());
            case "putRestart" -> store.putRestartRequest(new RestartRequest(
                name, step.get("onlyFailed").asBoolean(), step.get("includeTasks").asBoolean()));
            case "putKey" -> store.putSessionKey(
                new SessionKey(new SecretKeySpec(new byte[32], "HmacSHA256"), step.get("ts").asLong()));
            case "putLogger" -> store.putLoggerLevel(name, step.get("level").asText());
            case "refresh" -> store.refresh(step.path("ms").asLong(100), TimeUnit.MILLISECONDS);
            case "contains" -> trace.add("contains=" + store.contains(name));
            case "q" -> trace.add(answers(store.snapshot(), name));
            default -> throw new IllegalArgumentException(step.toString());
        }
    }

    private void append(JsonNode step) {
        log.nextOffset = step.path("offset").asLong(log.nextOffset);
        log.append(textOf(step, "key"), valueOf(step));
    }

    /** Without a stub the store makes its own producer, which finds no broker. */
    private void claim() {
        if (transactional && transactions != null && Inside.get(store, "fencableProducer") == null) {
            boolean fenced = transactions.equals("fenced");
            Inside.set(store, "fencableProducer", Inside.stub(Producer.class,
                (method, arguments) -> produce(fenced, method, arguments)));
        } else {
            store.claimWritePrivileges();
        }
    }

    /** The producer that can be fenced: its transactions reach the log when they are committed, or are fenced. */
    @SuppressWarnings("unchecked") private Object produce(boolean fenced, String method, Object[] arguments) {
        switch (method) {
            case "beginTransaction" -> {
                trace.add("tx.begin");
                sent.clear();
            }
            case "send" -> {
                ProducerRecord<String, byte[]> record = (ProducerRecord<String, byte[]>) arguments[0];
                log.note("tx.send", record.key(), record.value());
                sent.add(record);
                return CompletableFuture.completedFuture(null);
            }
            case "commitTransaction" -> {
                trace.add("tx.commit");
                if (fenced) throw new ProducerFencedException("fenced");
                sent.forEach(record -> log.append(record.key(), record.value()));
                log.nextOffset++; // the marker
            }
            case "close" -> trace.add("tx.close(" + (arguments == null ? "" : arguments[0]) + ")");
            default -> trace.add("tx." + method);
        }
        return null;
    }

    private static Map<String, String> config(JsonNode node) {
        Map<String, String> config = new LinkedHashMap<>();
        node.fieldNames().forEachRemaining(name -> config.put(name, textOf(node, name)));
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

    @Override Map<String, Object> state() {
        ClusterConfigState all = store.snapshot();
        Map<String, Object> state = new HashMap<>();
        SessionKey key = all.sessionKey();
        state.put("offset", all.offset());
        state.put("sessionKey", key == null ? null : key.key().getAlgorithm() + "/" + key.key().getEncoded().length
            + "B/" + key.creationTimestamp());
        state.put("connectorTaskCounts", all.connectorTaskCounts);
        state.put("connectorConfigs", all.connectorConfigs);
        state.put("targetStates", all.connectorTargetStates);
        state.put("taskConfigs", all.taskConfigs);
        state.put("taskCountRecords", all.connectorTaskCountRecords);
        state.put("generations", all.connectorTaskConfigGenerations);
        Map<String, Object> applied = new HashMap<>();
        all.appliedConnectorConfigs.keySet().forEach(name -> applied.put(name, all.appliedConnectorConfig(name)));
        state.put("applied", applied);
        state.put("pendingFencing", new TreeSet<>(all.connectorsPendingFencing));
        state.put("inconsistent", new TreeSet<>(all.inconsistentConnectors));
        state.put("deferred", store.deferredTaskUpdates);
        Map<String, Object> tasks = new HashMap<>();
        all.connectors().forEach(name -> tasks.put(name, tasks(all, name)));
        all.connectorTaskCounts.keySet().forEach(name -> tasks.put(name, tasks(all, name)));
        state.put("tasks()", tasks);
        return state;
    }

    private static List<String> tasks(ClusterConfigState state, String name) {
        try {
            return state.tasks(name).stream().map(ConnectorTaskId::toString).toList();
        } catch (IllegalArgumentException thrown) {
            return List.of("THROWS IllegalArgumentException: " + thrown.getMessage());
        }
    }
}
