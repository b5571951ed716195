package org.apache.kafka.connect.runtime.distributed;

import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.*;
import javassist.*;
import org.apache.kafka.clients.consumer.internals.ConsumerNetworkClient;
import org.apache.kafka.common.utils.*;
import org.apache.kafka.connect.connector.policy.NoneConnectorClientConfigOverridePolicy;
import org.apache.kafka.connect.runtime.*;
import org.apache.kafka.connect.runtime.rest.entities.ConnectorType;
import org.apache.kafka.connect.storage.*;
import org.apache.kafka.connect.util.*;
import rebalancecheck.*;

/**
 * Kafka's own herder: the driver calls its tick, its pools run on the calling thread, and its Worker starts and stops
 * at once and only notes it. Worker is final: its methods are replaced when the class is loaded, and nothing else is.
 */
public final class SteppedHerder extends DistributedHerder {
    private static final Map<Object, SteppedHerder> OF_WORKER = new IdentityHashMap<>();
    private static final Map<Object, ConnectMetrics> METRICS = new IdentityHashMap<>();

    final WorkerRebalanceListener listener;
    private final ArrayNode calls;
    private final Map<String, ConnectorStatus.Listener> connectors = new TreeMap<>();
    private final Map<ConnectorTaskId, TaskStatus.Listener> tasks = new TreeMap<>();

    /** Before anything loads the class. */
    static void install() throws Exception {
        CtClass worker = new ClassPool(true).get("org.apache.kafka.connect.runtime.Worker");
        for (CtMethod method : worker.getDeclaredMethods()) {
            if (Modifier.isPublic(method.getModifiers()) && !Modifier.isStatic(method.getModifiers())) {
                method.setBody("{ return ($r) " + SteppedHerder.class.getName() + ".called($0, \""
                    + method.getName() + "\", $args); }");
            }
        }
        worker.toClass(Class.forName("org.apache.kafka.connect.runtime.ConnectMetrics"));
    }

    /** A herder called {@code name}, whose member is blank. */
    static SteppedHerder make(String name, DistributedConfig config, ConfigBackingStore configs, Time time,
                              ArrayNode calls) {
        Worker worker = Inside.blank(Worker.class);
        WorkerGroupMember member = Inside.blank(WorkerGroupMember.class);
        StatusBackingStore statuses = Inside.stub(StatusBackingStore.class, (method, args) -> {
            if (method.startsWith("put")) {
                AbstractStatus<?> status = (AbstractStatus<?>) args[0];
                calls.addObject().put("call", method.equals("putSafe") ? "status, safely" : "status")
                    .put("work", status.id().toString()).put("state", status.state().name())
                    .put("generation", status.generation());
            }
            return method.equals("connectors") ? Set.of() : method.startsWith("getAll") ? List.of() : null;
        });
        METRICS.put(worker, new ConnectMetrics(name, config, time, "cluster"));
        SteppedHerder herder = new SteppedHerder(name, config, worker, member, statuses, configs, time, calls);
        OF_WORKER.put(worker, herder);
        herder.startAndStopExecutor = new Tasks(Runnable::run);
        return herder;
    }

    private SteppedHerder(String name, DistributedConfig config, Worker worker, WorkerGroupMember member,
                          StatusBackingStore statuses, ConfigBackingStore configs, Time time, ArrayNode calls) {
        super(config, worker, name + ":8083", "cluster", statuses, configs, member, "http://" + name + ":8083/", null,
            METRICS.get(worker), time, new NoneConnectorClientConfigOverridePolicy(), List.of(),
            new Tasks(Runnable::run), new AutoCloseable[0]);
        this.calls = calls;
        this.listener = new RebalanceListener(time);
    }

    @Override public ConnectorType connectorType(Map<String, String> config) { return ConnectorType.SINK; }
    private void note(String what, Object work) { calls.addObject().put("call", what).put("work", work.toString()); }

    public static Object called(Object worker, String name, Object[] args) {
        SteppedHerder herder = OF_WORKER.get(worker);
        if (name.equals("metrics")) return METRICS.get(worker);
        return herder == null ? null : herder.perform(name, args);
    }

    @SuppressWarnings("unchecked") private Object perform(String name, Object[] args) {
        Object work = args.length > 0 ? args[0] : null;
        switch (name) {
            case "startConnector" -> {
                note("start", work);
                connectors.put((String) work, (ConnectorStatus.Listener) args[3]);
                connectors.get(work).onStartup((String) work);
                ((Callback<TargetState>) args[5]).onCompletion(null, (TargetState) args[4]);
            }
            case "startSinkTask" -> {
                note("start", work);
                tasks.put((ConnectorTaskId) work, (TaskStatus.Listener) args[4]);
                tasks.get(work).onStartup((ConnectorTaskId) work);
            }
            case "stopAndAwaitConnector" -> {
                note("stop", work);
                ConnectorStatus.Listener owner = connectors.remove(work);
                if (owner != null) owner.onShutdown((String) work);
            }
            case "stopAndAwaitTask" -> stop((ConnectorTaskId) work);
            case "stopAndAwaitTasks" -> (work == null ? new TreeSet<>(tasks.keySet())
                : (Collection<ConnectorTaskId>) work).forEach(this::stop);
            case "setTargetState" -> note("target", work + " " + args[1]);
            default -> { }
        }
        return switch (name) {
            case "connectorNames" -> new TreeSet<>(connectors.keySet());
            case "taskIds" -> new TreeSet<>(tasks.keySet());
            case "isRunning", "isTopicCreationEnabled" -> false;
            case "isSinkConnector", "startSinkTask" -> true;
            default -> null;
        };
    }

    private void stop(ConnectorTaskId task) {
        note("stop", task);
        TaskStatus.Listener owner = tasks.remove(task);
        if (owner != null) owner.onShutdown(task);
    }
}
