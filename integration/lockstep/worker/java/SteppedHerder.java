package org.apache.kafka.connect.runtime.distributed;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.TimeUnit;
import javassist.ClassPool;
import javassist.CtClass;
import javassist.CtMethod;
import javassist.Modifier;
import org.apache.kafka.clients.consumer.internals.ConsumerNetworkClient;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.connect.connector.policy.NoneConnectorClientConfigOverridePolicy;
import org.apache.kafka.connect.runtime.rest.entities.ConnectorType;
import org.apache.kafka.connect.runtime.AbstractStatus;
import org.apache.kafka.connect.runtime.ConnectMetrics;
import org.apache.kafka.connect.runtime.ConnectorStatus;
import org.apache.kafka.connect.runtime.TargetState;
import org.apache.kafka.connect.runtime.TaskStatus;
import org.apache.kafka.connect.runtime.Worker;
import org.apache.kafka.connect.storage.ConfigBackingStore;
import org.apache.kafka.connect.storage.StatusBackingStore;
import org.apache.kafka.connect.util.Callback;
import org.apache.kafka.connect.util.ConnectorTaskId;

/**
 * Kafka's own herder: the driver calls its tick, its pools run on the calling thread, and its Worker starts and stops
 * at once and only notes it. Worker is final: its methods are replaced when the class is loaded, and nothing else is.
 */
public final class SteppedHerder extends DistributedHerder {
    private static final Map<Object, SteppedHerder> OF_WORKER = new IdentityHashMap<>();
    private static final Map<Object, ConnectMetrics> METRICS = new IdentityHashMap<>();
    private static Object unsafe;

    public final WorkerRebalanceListener listener;
    private final ArrayNode calls;
    private final Map<String, ConnectorStatus.Listener> connectors = new TreeMap<>();
    private final Map<ConnectorTaskId, TaskStatus.Listener> tasks = new TreeMap<>();

    /** Runs what it is given at once. */
    private static final class Direct extends AbstractExecutorService {
        @Override
        public void execute(Runnable command) {
            command.run();
        }

        @Override
        public void shutdown() {
        }

        @Override
        public List<Runnable> shutdownNow() {
            return List.of();
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return true;
        }
    }

    /** Before anything loads the class. */
    public static void install() throws Exception {
        CtClass worker = new ClassPool(true).get("org.apache.kafka.connect.runtime.Worker");
        for (CtMethod method : worker.getDeclaredMethods()) {
            if (Modifier.isPublic(method.getModifiers()) && !Modifier.isStatic(method.getModifiers())) {
                method.setBody("{ return ($r) org.apache.kafka.connect.runtime.distributed.SteppedHerder.called($0, \""
                    + method.getName() + "\", $args); }");
            }
        }
        worker.toClass(Class.forName("org.apache.kafka.connect.runtime.ConnectMetrics"));
        Field field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");
        field.setAccessible(true);
        unsafe = field.get(null);
    }

    private static <T> T made(Class<T> type) throws ReflectiveOperationException {
        return type.cast(unsafe.getClass().getMethod("allocateInstance", Class.class).invoke(unsafe, type));
    }

    private static void set(Class<?> type, Object owner, String name, Object value)
            throws ReflectiveOperationException {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        field.set(owner, value);
    }

    /** A herder called {@code name}, whose member is a coordinator that {@link #join} gives it. */
    public static SteppedHerder make(String name, DistributedConfig config, ConfigBackingStore configs, Time time,
                                     ArrayNode calls) throws ReflectiveOperationException {
        Worker worker = made(Worker.class);
        WorkerGroupMember member = made(WorkerGroupMember.class);
        StatusBackingStore statuses = (StatusBackingStore) Proxy.newProxyInstance(SteppedHerder.class.getClassLoader(),
            new Class<?>[] {StatusBackingStore.class}, (self, method, args) -> {
                if (method.getName().startsWith("put")) {
                    note(calls, method.getName(), (AbstractStatus<?>) args[0]);
                }
                return Collection.class.isAssignableFrom(method.getReturnType())
                    ? (Set.class == method.getReturnType() ? Set.of() : List.of()) : null;
            });
        METRICS.put(worker, new ConnectMetrics(name, config, time, "cluster"));
        SteppedHerder herder = new SteppedHerder(name, config, worker, member, statuses, configs, time, calls);
        OF_WORKER.put(worker, herder);
        herder.startAndStopExecutor = new Direct();
        return herder;
    }

    private final WorkerGroupMember joined;

    private SteppedHerder(String name, DistributedConfig config, Worker worker, WorkerGroupMember member,
                          StatusBackingStore statuses, ConfigBackingStore configs, Time time, ArrayNode calls) {
        super(config, worker, name + ":8083", "cluster", statuses, configs, member, "http://" + name + ":8083/", null,
            METRICS.get(worker), time, new NoneConnectorClientConfigOverridePolicy(), List.of(),
            new Direct(), new AutoCloseable[0]);
        this.calls = calls;
        this.joined = member;
        this.listener = new RebalanceListener(time);
    }

    public void join(WorkerCoordinator coordinator, ConsumerNetworkClient network) throws ReflectiveOperationException {
        set(WorkerGroupMember.class, joined, "log", new LogContext().logger(WorkerGroupMember.class));
        set(WorkerGroupMember.class, joined, "client", network);
        set(WorkerGroupMember.class, joined, "coordinator", coordinator);
    }

    @Override
    public ConnectorType connectorType(Map<String, String> config) {
        return ConnectorType.SINK;
    }

    private static void note(ArrayNode calls, String how, AbstractStatus<?> status) {
        calls.addObject().put("call", how.equals("putSafe") ? "status, safely" : "status")
            .put("work", status.id().toString())
            .put("state", status.state().name()).put("generation", status.generation());
    }

    private void note(String what, Object work) {
        calls.addObject().put("call", what).put("work", work.toString());
    }

    public static Object called(Object worker, String name, Object[] args) {
        SteppedHerder herder = OF_WORKER.get(worker);
        if (name.equals("metrics")) {
            return METRICS.get(worker);
        }
        return herder == null ? null : herder.perform(name, args);
    }

    @SuppressWarnings("unchecked")
    private Object perform(String name, Object[] args) {
        switch (name) {
            case "startConnector" -> {
                note("start", args[0]);
                ConnectorStatus.Listener owner = (ConnectorStatus.Listener) args[3];
                connectors.put((String) args[0], owner);
                owner.onStartup((String) args[0]);
                ((Callback<TargetState>) args[5]).onCompletion(null, (TargetState) args[4]);
            }
            case "startSinkTask" -> {
                note("start", args[0]);
                TaskStatus.Listener owner = (TaskStatus.Listener) args[4];
                tasks.put((ConnectorTaskId) args[0], owner);
                owner.onStartup((ConnectorTaskId) args[0]);
                return true;
            }
            case "stopAndAwaitConnector" -> {
                note("stop", args[0]);
                ConnectorStatus.Listener owner = connectors.remove((String) args[0]);
                if (owner != null) {
                    owner.onShutdown((String) args[0]);
                }
            }
            case "stopAndAwaitTask" -> stop((ConnectorTaskId) args[0]);
            case "stopAndAwaitTasks" -> (args.length == 0 ? new TreeSet<>(tasks.keySet())
                : (Collection<ConnectorTaskId>) args[0]).forEach(this::stop);
            case "connectorNames" -> {
                return new TreeSet<>(connectors.keySet());
            }
            case "taskIds" -> {
                return new TreeSet<>(tasks.keySet());
            }
            case "isRunning", "isTopicCreationEnabled" -> {
                return false;
            }
            case "isSinkConnector" -> {
                return true;
            }
            case "setTargetState" -> note("target", args[0] + " " + args[1]);
            default -> {
                return null;
            }
        }
        return null;
    }

    private void stop(ConnectorTaskId task) {
        note("stop", task);
        TaskStatus.Listener owner = tasks.remove(task);
        if (owner != null) {
            owner.onShutdown(task);
        }
    }
}
