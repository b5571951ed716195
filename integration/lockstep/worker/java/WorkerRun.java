package rebalancecheck.worker;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.kafka.clients.KafkaClient;
import org.apache.kafka.clients.Metadata;
import org.apache.kafka.clients.consumer.internals.AbstractCoordinator;
import org.apache.kafka.clients.consumer.internals.ConsumerNetworkClient;
import org.apache.kafka.common.internals.ClusterResourceListeners;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.connect.runtime.distributed.ConnectProtocolCompatibility;
import org.apache.kafka.connect.runtime.distributed.ExtendedAssignment;
import org.apache.kafka.connect.runtime.distributed.SteppedHerder;
import org.apache.kafka.connect.runtime.distributed.WorkerCoordinator;
import org.apache.kafka.connect.runtime.distributed.WorkerRebalanceListener;
import org.apache.kafka.connect.storage.ClusterConfigState;
import org.apache.kafka.connect.storage.ConfigBackingStore;
import org.apache.kafka.connect.util.ConnectorTaskId;

/** One WorkerCoordinator, its herder's thread and everything around it, from a reset to the next. */
final class WorkerRun implements WorkerRebalanceListener {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long STEP_MS = 100;
    private static final Utils.UncheckedCloseable NOT_LABELLED = () -> { };

    private final StepTime time = new StepTime();
    private final StubClient client;
    private final ConsumerNetworkClient network;
    private final WorkerCoordinator worker;
    private final HerderThread herder;
    private final ArrayNode calls = JSON.createArrayNode();
    private final List<String> asked = new ArrayList<>();
    private final String name;
    private ClusterConfigState configs;
    private boolean inside;
    private boolean raises;
    private String raised = "";
    private boolean closed;
    private SteppedHerder own;

    WorkerRun(JsonNode options) throws Exception {
        options.get("owners").forEach(name -> asked.add(name.asText()));
        name = options.path("worker").asText("w");
        time.nowMs = options.path("now").asLong(StepTime.START_MS);
        configs = Configs.read(options);
        LogContext log = new LogContext();
        Metadata metadata = new Metadata(100, 1_000, Long.MAX_VALUE, log, new ClusterResourceListeners()) {
            @Override
            public void maybeThrowAnyException() {
                giveWay();
                super.maybeThrowAnyException();
            }
        };
        client = new StubClient(time, metadata, name);
        KafkaClient proxy = stub(KafkaClient.class, client);
        network = new ConsumerNetworkClient(log, proxy, metadata, time, 100, 30_000, Integer.MAX_VALUE);
        ConfigBackingStore store = stub(ConfigBackingStore.class,
            (self, method, args) -> method.getName().equals("snapshot") ? configs : null);
        String mode = options.get("mode").asText();
        worker = new WorkerCoordinator(Settings.ofGroup(mode), log, network, new Metrics(time), "connect", time,
            "http://" + name + ":8083/", store, this, ConnectProtocolCompatibility.compatibility(mode),
            options.get("maxDelay").asInt());
        if (options.path("herder").asBoolean()) {
            own = SteppedHerder.make(name, Settings.ofWorker(mode), store, time, calls);
            own.join(worker, network);
        }
        withoutJitter(worker);
        withoutJitter(Fields.get(worker, "heartbeat"));
        herder = new HerderThread(this::poll);
        herder.monitor = worker;
    }

    private static <T> T stub(Class<T> type, java.lang.reflect.InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static void withoutJitter(Object owner) throws ReflectiveOperationException {
        Object backoff = Fields.get(owner, "retryBackoff");
        Fields.find(backoff, "jitter").set(backoff, 0.0);
    }

    // ------------------------------------------------------------------------------------------- the herder

    private void poll() {
        while (!closed) {
            try {
                if (own == null) {
                    worker.poll(0, () -> NOT_LABELLED);
                } else {
                    own.tick();
                    continue;
                }
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

    private void run() {
        inside = true;
        herder.run();
    }

    private void heartbeat() throws ReflectiveOperationException {
        if (inside && herder.holdsMonitor) {
            return;
        }
        if (inside && herder.polls) {
            herder.yields = true;
            herder.run();
            boolean gaveWay = !herder.yields;
            herder.yields = false;
            if (inside && (!gaveWay || herder.holdsMonitor)) {
                return;
            }
        }
        HeartbeatSteps.run(worker);
    }

    private void goOn() {
        while (inside && (herder.dueMs <= time.nowMs || (client.hasArrived() && herder.polls))) {
            herder.run();
        }
    }

    @Override
    public void onAssigned(ExtendedAssignment assignment, int generation) {
        ObjectNode call = calls.addObject().put("call", "assigned").put("generation", generation);
        call.set("assignment", Assignments.describe(assignment));
        raise();
        if (own != null) {
            own.listener.onAssigned(assignment, generation);
        }
    }

    @Override
    public void onRevoked(String leader, Collection<String> connectors, Collection<ConnectorTaskId> tasks) {
        ObjectNode call = calls.addObject().put("call", "revoked").put("leader", leader);
        connectors.forEach(call.putArray("connectors")::add);
        tasks.forEach(task -> call.withArray("tasks").add(task.toString()));
        raise();
        if (own != null) {
            own.listener.onRevoked(leader, connectors, tasks);
        }
    }

    @Override
    public void onPollTimeoutExpiry() {
        calls.addObject().put("call", "poll timeout");
    }

    private void raise() {
        if (raises) {
            raises = false;
            throw new IllegalStateException("the driver wants it");
        }
    }

    // ------------------------------------------------------------------------------------------- the driver

    void perform(JsonNode step) throws Exception {
        switch (step.get("do").asText()) {
            case "poll" -> {
                if (inside) {
                    goOn();
                } else {
                    run();
                    goOn();
                }
            }
            case "step" -> {
                for (int times = step.get("times").asInt(); times > 0; times--) {
                    time.nowMs += STEP_MS;
                    heartbeat();
                    goOn();
                }
            }
            case "answer" -> {
                Answers.give(client, step);
                if (step.get("api").asText().equals("HEARTBEAT")) {
                    heartbeat();
                }
                goOn();
            }
            case "reply" -> {
                if (client.reply(step) == ApiKeys.HEARTBEAT) {
                    heartbeat();
                }
                goOn();
            }
            case "disconnect" -> {
                client.disconnect();
                heartbeat();
                goOn();
            }
            case "reachable" -> client.reachable = step.get("value").asBoolean();
            case "configs" -> configs = Configs.read(step);
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

    /** What can be observed, and was not yet. */
    ObjectNode observe() throws ReflectiveOperationException {
        ObjectNode seen = JSON.createObjectNode();
        ArrayNode requests = seen.putArray("requests");
        client.sent.forEach(request -> requests.add(Answers.describe(request)));
        client.sent.clear();
        client.takeFrames(seen.putArray("frames"));
        seen.set("calls", calls.deepCopy());
        calls.removeAll();
        seen.put("raised", raised);
        raised = "";
        seen.put("inside", inside);
        seen.put("state", Fields.get(worker, "state").toString());
        seen.put("completed", worker.lastCompletedGenerationId()).put("version", worker.currentProtocolVersion());
        ExtendedAssignment claim = (ExtendedAssignment) Fields.get(worker, "assignmentSnapshot");
        seen.set("claim", claim == null ? JSON.nullNode() : Assignments.describe(claim));
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
}
