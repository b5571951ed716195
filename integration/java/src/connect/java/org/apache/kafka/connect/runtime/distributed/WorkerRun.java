package org.apache.kafka.connect.runtime.distributed;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.*;
import java.lang.reflect.Method;
import java.util.*;
import org.apache.kafka.clients.*;
import org.apache.kafka.clients.consumer.internals.*;
import org.apache.kafka.common.internals.ClusterResourceListeners;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.connect.runtime.TargetState;
import org.apache.kafka.connect.storage.*;
import org.apache.kafka.connect.util.ConnectorTaskId;
import rebalancecheck.*;

/**
 * One WorkerCoordinator, its herder's thread and everything around it: performs each step, and answers with what could
 * be observed since the one before.
 */
public final class WorkerRun implements WorkerRebalanceListener, Main.Run {
    private static final long STEP_MS = 100;
    private static final Utils.UncheckedCloseable NOT_LABELLED = () -> { };

    private final StepTime time = new StepTime();
    private final StubClient client;
    private final ConsumerNetworkClient network;
    private final WorkerCoordinator worker;
    private final HerderThread herder;
    private final ArrayNode calls = Main.JSON.createArrayNode();
    private final List<String> asked = new ArrayList<>();
    private final String name;
    private ClusterConfigState configs;
    private boolean inside;
    private boolean raises;
    private String raised = "";
    private SteppedHerder own;

    static {
        try {
            HeartbeatSteps.install();
            SteppedHerder.install();
        } catch (Exception e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    public WorkerRun(JsonNode options) {
        options.get("owners").forEach(name -> asked.add(name.asText()));
        name = options.path("worker").asText("w");
        time.nowMs = options.path("now").asLong(StepTime.START_MS);
        configs = configs(options);
        LogContext log = new LogContext();
        Metadata metadata = new Metadata(100, 1_000, Long.MAX_VALUE, log, new ClusterResourceListeners()) {
            @Override public void maybeThrowAnyException() {
                giveWay();
                super.maybeThrowAnyException();
            }
        };
        client = new StubClient(time, metadata, name);
        network = new ConsumerNetworkClient(log, Inside.stub(KafkaClient.class, client), metadata, time, 100, 30_000,
            Integer.MAX_VALUE);
        ConfigBackingStore store = Inside.stub(ConfigBackingStore.class,
            (method, args) -> method.equals("snapshot") ? configs : null);
        String mode = options.get("mode").asText();
        DistributedConfig settings = Settings.ofWorker(Map.of("connect.protocol", mode));
        worker = new WorkerCoordinator(
            new GroupRebalanceConfig(settings, GroupRebalanceConfig.ProtocolType.CONNECT), log, network,
            new Metrics(time), "connect", time,
            "http://" + name + ":8083/", store, this, ConnectProtocolCompatibility.compatibility(mode),
            options.get("maxDelay").asInt());
        if (options.path("herder").asBoolean()) {
            own = SteppedHerder.make(name, settings, store, time, calls);
            Object member = Inside.get(own, "member");
            Inside.set(member, "log", log.logger(WorkerGroupMember.class));
            Inside.set(member, "client", network);
            Inside.set(member, "coordinator", worker);
        }
        for (Object owner : List.of(worker, Inside.get(worker, "heartbeat"))) {
            Inside.set(Inside.get(owner, "retryBackoff"), "jitter", 0.0);
        }
        herder = new HerderThread(this::poll);
        herder.monitor = worker;
    }

    /** A snapshot of the config topic, of started connectors with as many tasks as the driver names. */
    private static ClusterConfigState configs(JsonNode step) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        Map<String, Map<String, String>> connectors = new LinkedHashMap<>();
        Map<String, TargetState> targets = new LinkedHashMap<>();
        Map<ConnectorTaskId, Map<String, String>> tasks = new LinkedHashMap<>();
        step.get("counts").fields().forEachRemaining(each -> {
            counts.put(each.getKey(), each.getValue().asInt());
            connectors.put(each.getKey(), Map.of());
            targets.put(each.getKey(), TargetState.STARTED);
            for (int task = 0; task < each.getValue().asInt(); task++) {
                tasks.put(new ConnectorTaskId(each.getKey(), task), Map.of());
            }
        });
        return new ClusterConfigState(step.get("offset").asLong(), null, counts, connectors, targets, tasks, Map.of(),
            Map.of(), Map.of(), Set.of(), Set.of());
    }

    private void poll() {
        while (true) {
            try {
                if (own == null) worker.poll(0, () -> NOT_LABELLED);
                else while (true) own.tick();
            } catch (Throwable problem) {
                raised = problem.getClass().getSimpleName();
            }
            inside = false;
            HerderThread.current().park(Long.MAX_VALUE, false);
        }
    }

    /** Between two polls of the network, where no lock of the client is held. */
    private void giveWay() {
        HerderThread current = HerderThread.current();
        if (current != null && current.yields && !Thread.holdsLock(worker)) {
            current.yields = false;
            current.park(time.nowMs, false);
        }
    }

    private void heartbeat() {
        if (inside && herder.holdsMonitor) return;
        if (inside && herder.polls) {
            herder.yields = true;
            herder.run();
            boolean gaveWay = !herder.yields;
            herder.yields = false;
            if (inside && (!gaveWay || herder.holdsMonitor)) return;
        }
        HeartbeatSteps.run(worker);
    }

    private void goOn() {
        while (inside && (herder.dueMs <= time.nowMs || (client.hasArrived() && herder.polls))) herder.run();
    }

    @Override public void onAssigned(ExtendedAssignment assignment, int generation) {
        ObjectNode call = calls.addObject().put("call", "assigned").put("generation", generation);
        call.set("assignment", describe(assignment));
        raise();
        if (own != null) own.listener.onAssigned(assignment, generation);
    }

    @Override public void onRevoked(String leader, Collection<String> connectors, Collection<ConnectorTaskId> tasks) {
        ObjectNode call = calls.addObject().put("call", "revoked").put("leader", leader);
        names(call.putArray("connectors"), connectors);
        if (!tasks.isEmpty()) names(call.putArray("tasks"), tasks);
        raise();
        if (own != null) own.listener.onRevoked(leader, connectors, tasks);
    }

    @Override public void onPollTimeoutExpiry() { calls.addObject().put("call", "poll timeout"); }

    private void raise() {
        if (raises) {
            raises = false;
            throw new IllegalStateException("the driver wants it");
        }
    }

    @Override public Object answer(JsonNode step) throws ReflectiveOperationException {
        perform(step);
        return observe();
    }

    private void perform(JsonNode step) throws ReflectiveOperationException {
        switch (step.get("do").asText()) {
            case "reset" -> { }
            case "poll" -> {
                if (!inside) {
                    inside = true;
                    herder.run();
                }
                goOn();
            }
            case "step" -> {
                for (int times = step.get("times").asInt(); times > 0; times--) {
                    time.nowMs += STEP_MS;
                    heartbeat();
                    goOn();
                }
            }
            case "reply" -> arrived(client.reply(
                step.get("correlation").asInt(), HexFormat.of().parseHex(step.get("frame").asText())));
            case "disconnect" -> {
                client.disconnect();
                arrived(ApiKeys.HEARTBEAT);
            }
            case "reachable" -> client.reachable = step.get("value").asBoolean();
            case "configs" -> configs = configs(step);
            case "rejoin" -> worker.requestRejoin("the driver wants it");
            case "raise" -> raises = true;
            case "leave" -> leave();
            case "wake" -> {
                network.wakeup();
                herder.run();
            }
            default -> throw new IllegalArgumentException(step.toString());
        }
    }

    /** The heartbeat thread reads the answers to its requests, the herder all others. */
    private void arrived(ApiKeys api) {
        if (api == ApiKeys.HEARTBEAT) heartbeat();
        goOn();
    }

    private void leave() throws ReflectiveOperationException {
        for (Method method : AbstractCoordinator.class.getDeclaredMethods()) {
            if (method.getName().equals("maybeLeaveGroup")) {
                method.setAccessible(true);
                Class<?> first = method.getParameterTypes()[0];
                Object[] args = first == String.class ? new Object[] {"a driver wants it"}
                    : new Object[] {Enum.valueOf(first.asSubclass(Enum.class), "DEFAULT"), "a driver wants it"};
                method.invoke(worker, args);
            }
        }
    }

    /** The observations that were not yet reported. */
    private ObjectNode observe() throws ReflectiveOperationException {
        ObjectNode seen = Main.JSON.createObjectNode();
        client.takeSent(seen.putArray("frames"), seen.putArray("in_flight"));
        seen.set("calls", calls.deepCopy());
        calls.removeAll();
        seen.put("raised", raised);
        raised = "";
        seen.put("inside", inside);
        seen.put("state", Inside.get(worker, "state").toString());
        seen.put("completed", worker.lastCompletedGenerationId()).put("version", worker.currentProtocolVersion());
        ExtendedAssignment claim = (ExtendedAssignment) Inside.get(worker, "assignmentSnapshot");
        seen.set("claim", claim == null ? Main.JSON.nullNode() : describe(claim));
        if (!inside || !herder.holdsMonitor) {
            // a thread that asks these while the herder looks for the coordinator waits until it has found it
            seen.put("member", worker.memberId()).put("generation", worker.generationId());
            seen.put("heartbeat", HeartbeatSteps.dueMs(worker, time.nowMs));
            ArrayNode owners = seen.putArray("owners");
            asked.forEach(name -> owners.add(ownerUrl(name)));
        }
        return seen;
    }

    private String ownerUrl(String name) {
        int dash = name.lastIndexOf('-');
        return dash < 0 ? worker.ownerUrl(name)
            : worker.ownerUrl(new ConnectorTaskId(name.substring(0, dash), Integer.parseInt(name.substring(dash + 1))));
    }

    private static ObjectNode describe(ExtendedAssignment assignment) {
        ObjectNode node = Main.JSON.createObjectNode();
        node.put("version", assignment.version()).put("error", assignment.error()).put("leader", assignment.leader());
        node.put("leader_url", assignment.leaderUrl()).put("offset", assignment.offset())
            .put("delay", assignment.delay());
        names(node.putArray("connectors"), assignment.connectors());
        names(node.putArray("tasks"), assignment.tasks());
        names(node.putArray("revoked_connectors"), assignment.revokedConnectors());
        names(node.putArray("revoked_tasks"), assignment.revokedTasks());
        return node;
    }

    private static void names(ArrayNode into, Collection<?> work) { work.forEach(each -> into.add(each.toString())); }
}
