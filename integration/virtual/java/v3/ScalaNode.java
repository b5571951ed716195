package rebalancecheck;

import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.locks.Lock;
import kafka.cluster.Partition;
import kafka.coordinator.group.GroupCoordinator;
import kafka.coordinator.group.GroupCoordinator$;
import kafka.coordinator.group.GroupCoordinatorAdapter;
import kafka.coordinator.group.GroupMetadata;
import kafka.coordinator.group.GroupMetadataManager;
import kafka.log.UnifiedLog;
import kafka.server.ActionQueue;
import kafka.server.DelayedOperationPurgatory;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRequestHandler;
import kafka.server.ReplicaManager;
import kafka.server.RequestLocal;
import kafka.server.TransactionSupportedOperation;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.message.OffsetFetchRequestData;
import org.apache.kafka.common.message.OffsetFetchResponseData;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.ControlRecordType;
import org.apache.kafka.common.record.EndTransactionMarker;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MutableRecordBatch;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.record.RecordValidationStats;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.OffsetFetchResponse;
import org.apache.kafka.common.requests.ProduceResponse.PartitionResponse;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.coordinator.group.CoordinatorRecordSerde;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.server.util.timer.TimerTask;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.FetchDataInfo;
import org.apache.kafka.storage.internals.log.FetchIsolation;
import org.apache.kafka.storage.internals.log.LogAppendInfo;
import org.apache.kafka.storage.internals.log.LogOffsetMetadata;
import org.apache.kafka.storage.internals.log.VerificationGuard;
import scala.Function1;
import scala.Option;
import scala.Some;
import scala.Tuple2;
import scala.collection.mutable.Set;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.BoxedUnit;
import sun.misc.Unsafe;

/**
 * Kafka 3's coordinator in Scala, which is what a broker of that release runs by default. It appends through
 * a {@code ReplicaManager} and loads from a {@code UnifiedLog}; both are replaced by stubs whose constructors never
 * run.
 */
public final class ScalaNode extends Node {
    /** The setting, not one of Kafka's, that asks for this coordinator. */
    public static final String SETTING = "coordinator";

    private static final long PURGE_INTERVAL = 1000;
    private static final Unsafe UNSAFE = unsafe();
    private static final Metrics METRICS = new Metrics();
    private static final CoordinatorRecordSerde SERDE = new CoordinatorRecordSerde();
    private static final Map<Map<String, String>, KafkaConfig> CONFIGURATIONS = new HashMap<>();

    private final GroupCoordinator coordinator;
    private final ArrayDeque<Append> unacknowledged = new ArrayDeque<>();

    public ScalaNode(int id, VirtualTime time, Map<String, String> settings) {
        super(time);
        KafkaConfig config = CONFIGURATIONS.computeIfAbsent(settings, ScalaNode::configuration);
        Replicas replicas = blank(Replicas.class);
        replicas.node = this;
        KafkaRequestHandler.setBypassThreadCheck(true);
        coordinator = GroupCoordinator$.MODULE$.apply(config, replicas,
            new DelayedOperationPurgatory<>("Heartbeat", timers, id, (int) PURGE_INTERVAL, false, true),
            new DelayedOperationPurgatory<>("Rebalance", timers, id, (int) PURGE_INTERVAL, false, true), time, METRICS);
        replace(GroupMetadataManager.class, coordinator.groupManager(), "scheduler", new Scheduler());
        service = new GroupCoordinatorAdapter(coordinator, time);
        service.startup(() -> 1);
    }

    private static KafkaConfig configuration(Map<String, String> settings) {
        Properties properties = new Properties();
        properties.putAll(Map.of("process.roles", "broker", "node.id", "0", "controller.quorum.voters", "1@127.0.0.1:1",
            "controller.listener.names", "CONTROLLER", "listeners", "PLAINTEXT://127.0.0.1:2", "log.dirs", "none",
            "listener.security.protocol.map", "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT"));
        properties.putAll(settings);
        properties.remove(SETTING);
        return KafkaConfig.fromProps(properties, false);
    }

    // ------------------------------------------------------------------------------------------------ appends

    /** An append that waits for the high watermark to pass its end; it is answered once. */
    private final class Append {
        private final long base = journal.end();
        private final TopicPartition partition;
        private final Function1<scala.collection.Map<TopicPartition, PartitionResponse>, BoxedUnit> callback;
        private long end;
        private boolean answered;

        Append(TopicPartition partition,
               Function1<scala.collection.Map<TopicPartition, PartitionResponse>, BoxedUnit> callback) {
            this.partition = partition;
            this.callback = callback;
        }

        void answer(Errors error) {
            if (!answered) {
                answered = true;
                PartitionResponse response = new PartitionResponse(error, error == Errors.NONE ? base : -1, -1L, 0L);
                callback.apply(CollectionConverters.asScala(Map.of(partition, response)));
            }
        }
    }

    private void append(MemoryRecords records) {
        int count = 0;
        for (Record ignored : records.records()) {
            count++;
        }
        journal.append(count, records.buffer().duplicate());
    }

    private void append(Append append, MemoryRecords records, long timeoutMs) {
        if (failure != null) {
            append.answer(failure);
            return;
        }
        append(records);
        append.end = journal.end();
        if (acknowledging) {
            journal.commit(append.end);
            append.answer(Errors.NONE);
            return;
        }
        unacknowledged.add(append);
        timers.add(new TimerTask(timeoutMs) {
            @Override
            public void run() {
                append.answer(Errors.REQUEST_TIMED_OUT);
            }
        });
    }

    @Override
    public void highWatermark(long offset) {
        journal.commit(offset);
        while (!unacknowledged.isEmpty() && unacknowledged.peek().end <= journal.highWatermark()) {
            Append append = unacknowledged.poll();
            runLater(() -> append.answer(Errors.NONE), false);
        }
    }

    /** As a broker that stops leading: appends under way fail. */
    @Override
    void resign(int epoch) {
        super.resign(epoch);
        while (!unacknowledged.isEmpty()) {
            Append append = unacknowledged.poll();
            runLater(() -> append.answer(Errors.NOT_LEADER_OR_FOLLOWER), false);
        }
    }

    // ------------------------------------------------------------------------------------------------ loading

    @Override
    void elect(int epoch) {
        super.elect(epoch);
        if (holdingLoad) {
            runLater(() -> loading().add(PARTITION_NUMBER), false);
        }
    }

    @Override
    public void releaseLoad() {
        holdingLoad = false;
        loading().remove(PARTITION_NUMBER);
    }

    @SuppressWarnings("unchecked")
    private Set<Object> loading() {
        return field(GroupMetadataManager.class, coordinator.groupManager(), "loadingPartitions", Set.class);
    }

    // ------------------------------------------------------------------------------------------------ for the driver

    @Override
    public void announce(Map<String, Integer> partitionsOfTopic) {
        // This coordinator does not look at the cluster's metadata.
    }

    @Override
    public Inside inspect(String group) {
        Option<GroupMetadata> found = coordinator.groupManager().getGroup(group);
        if (found.isEmpty()) {
            return null;
        }
        String leader = found.get().leaderOrNull();
        return new Inside(found.get().generationId(), leader == null ? "" : leader);
    }

    /** Operations name their group in a field, and a session its member. */
    @Override
    public Map<String, TimerTask> runningTimers() {
        Map<String, TimerTask> named = new HashMap<>();
        for (TimerTask task : time.running(timers)) {
            String group = value(task, "group") instanceof GroupMetadata found ? found.groupId() : "";
            named.put(switch (task.getClass().getSimpleName()) {
                case "DelayedHeartbeat" -> sessionKey(group, String.valueOf(value(task, "memberId")));
                case "DelayedJoin", "InitialDelayedJoin" -> joinKey(group);
                case "DelayedSync" -> syncKey(group);
                default -> "other-" + named.size();
            }, task);
        }
        return named;
    }

    @Override
    public String sessionKey(String group, String member) {
        return "session-" + group + "-" + member;
    }

    @Override
    public String joinKey(String group) {
        return "join-" + group;
    }

    @Override
    public String syncKey(String group) {
        return "sync-" + group;
    }

    @Override
    public String journalText() {
        StringBuilder text = new StringBuilder();
        for (Journal.Batch stored : journal.batches()) {
            long offset = stored.base();
            for (MutableRecordBatch batch : MemoryRecords.readableRecords(stored.buffer()).batches()) {
                for (Record each : batch) {
                    text.append(offset++).append(' ').append(batch.producerId()).append(' ')
                        .append(batch.isControlBatch() ? ControlRecordType.parse(each.key())
                            : SERDE.deserialize(each.key(), each.value())).append('\n');
                }
            }
        }
        return text.toString();
    }

    /** Here the broker appends the marker itself, and tells the coordinator once it stands. */
    @Override
    public CompletableFuture<Void> endTransaction(long producer, TransactionResult result) {
        if (failure != null) {
            return CompletableFuture.failedFuture(failure.exception());
        }
        append(MemoryRecords.withEndTransactionMarker(time.milliseconds(), producer, (short) 0,
            new EndTransactionMarker(ControlRecordType.valueOf(result.name()), 0)));
        if (acknowledging) {
            highWatermark(journal.end());
        }
        return service instanceof GroupCoordinatorAdapter adapter
            ? adapter.onTransactionCompleted(producer, List.of(PARTITION), result)
            : CompletableFuture.failedFuture(new IllegalStateException("not the coordinator in Scala"));
    }

    @Override
    public CompletableFuture<OffsetFetchResponseData.OffsetFetchResponseGroup> fetchOffsets(
        RequestContext context, OffsetFetchRequestData.OffsetFetchRequestGroup group, boolean stable) {
        return group.topics() == null
            ? service.fetchAllOffsets(context, group, stable) : service.fetchOffsets(context, group, stable);
    }

    @Override
    public AbstractResponse offsetFetchResponse(
        List<OffsetFetchResponseData.OffsetFetchResponseGroup> fetched, short version) {
        return new OffsetFetchResponse(fetched, version);
    }

    // ------------------------------------------------------------------------------------------------ stubs

    private final class Scheduler extends KafkaScheduler {
        Scheduler() {
            super(1);
        }

        @Override
        public void startup() { }

        @Override
        public void shutdown() { }

        @Override
        public ScheduledFuture<?> schedule(String name, Runnable task, long delayMs, long periodMs) {
            if (delayMs <= 0) {
                runLater(task, false);
            } else {
                timers.add(new TimerTask(delayMs) {
                    @Override
                    public void run() {
                        runLater(task, false);
                    }
                });
            }
            if (periodMs > 0) {
                timers.add(new TimerTask(Math.max(delayMs, 0) + periodMs) {
                    @Override
                    public void run() {
                        schedule(name, task, 0, periodMs);
                    }
                });
            }
            return null;
        }
    }

    static final class Replicas extends ReplicaManager {
        private ScalaNode node;

        Replicas() {
            super(null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
                null, null, null, null, null);
        }

        @Override
        public Option<Object> getMagic(TopicPartition partition) {
            return new Some<>(RecordBatch.MAGIC_VALUE_V2);
        }

        @Override
        public Option<Object> getLogEndOffset(TopicPartition partition) {
            return new Some<>(node.journal.end());
        }

        @Override
        public Option<Partition> onlinePartition(TopicPartition partition) {
            Replica replica = blank(Replica.class);
            replica.node = node;
            return new Some<>(replica);
        }

        @Override
        public Option<UnifiedLog> getLog(TopicPartition partition) {
            StoredLog log = blank(StoredLog.class);
            log.node = node;
            return new Some<>(log);
        }

        @Override
        public void tryCompleteActions() { }

        @Override
        public ActionQueue appendRecords$default$10() {
            return null;
        }

        @Override
        public RequestLocal appendRecords$default$9() {
            return null;
        }

        @Override
        public Function1<scala.collection.Map<TopicPartition, RecordValidationStats>, BoxedUnit>
            appendRecords$default$8() {
            return null;
        }

        @Override
        public void maybeStartTransactionVerificationForPartition(
            TopicPartition partition, String transaction, long producer, short epoch, int sequence,
            Function1<Tuple2<Errors, VerificationGuard>, BoxedUnit> callback, TransactionSupportedOperation operation) {
            callback.apply(new Tuple2<>(Errors.NONE, VerificationGuard.SENTINEL));
        }

        @Override
        public void appendRecords(
            long timeoutMs, short acks, boolean internal, AppendOrigin origin,
            scala.collection.Map<TopicPartition, MemoryRecords> entries,
            Function1<scala.collection.Map<TopicPartition, PartitionResponse>, BoxedUnit> callback, Option<Lock> lock,
            Function1<scala.collection.Map<TopicPartition, RecordValidationStats>, BoxedUnit> stats,
            RequestLocal local, ActionQueue queue,
            scala.collection.Map<TopicPartition, VerificationGuard> guards) {
            Tuple2<TopicPartition, MemoryRecords> only = entries.head();
            node.append(node.new Append(only._1, callback), only._2, timeoutMs);
        }
    }

    /** Tombstones are written here, and nobody waits for them. */
    static final class Replica extends Partition {
        private ScalaNode node;

        Replica() {
            super(null, 0, null, 0, null, null, null, null, null, null, null, null);
        }

        @Override
        public LogAppendInfo appendRecordsToLeader(
            MemoryRecords records, AppendOrigin origin, int acks, RequestLocal local, VerificationGuard guard) {
            node.append(records);
            if (node.acknowledging) {
                node.highWatermark(node.journal.end());
            }
            return LogAppendInfo.UNKNOWN_LOG_APPEND_INFO;
        }
    }

    static final class StoredLog extends UnifiedLog {
        private ScalaNode node;

        StoredLog() {
            super(0, null, null, 0, null, null, null, false, false, null);
        }

        @Override
        public long logStartOffset() {
            return 0;
        }

        /** One batch; the coordinator wrote it with offsets from 0. */
        @Override
        public FetchDataInfo read(long from, int max, FetchIsolation isolation, boolean atLeastOne) {
            MemoryRecords records = MemoryRecords.EMPTY;
            for (Journal.Batch stored : node.journal.batches()) {
                if (stored.base() == from) {
                    ByteBuffer bytes = ByteBuffer.wrap(stored.bytes().clone());
                    records = MemoryRecords.readableRecords(bytes.putLong(0, from));
                }
            }
            return new FetchDataInfo(new LogOffsetMetadata(from), records);
        }
    }

    // ------------------------------------------------------------------------------------------------ reflection

    private static Unsafe unsafe() {
        try {
            Field field = Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return (Unsafe) field.get(null);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** An object whose constructor was not run. */
    private static <T> T blank(Class<T> type) {
        try {
            return type.cast(UNSAFE.allocateInstance(type));
        } catch (InstantiationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void replace(Class<?> owner, Object object, String name, Object value) {
        try {
            Field field = owner.getDeclaredField(name);
            field.setAccessible(true);
            field.set(object, value);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A field by its name, wherever the class hierarchy declares it; null where there is none. */
    private static Object value(Object object, String name) {
        for (Class<?> type = object.getClass(); type != Object.class; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (field.getName().equals(name) || field.getName().endsWith("$$" + name)) {
                    return field(type, object, field.getName(), Object.class);
                }
            }
        }
        return null;
    }
}
