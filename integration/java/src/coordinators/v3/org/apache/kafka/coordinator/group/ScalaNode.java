package org.apache.kafka.coordinator.group;

import com.fasterxml.jackson.databind.node.ArrayNode;
import java.nio.ByteBuffer;
import java.util.*;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import kafka.cluster.Partition;
import kafka.coordinator.group.GroupCoordinator$;
import kafka.coordinator.group.*;
import kafka.log.UnifiedLog;
import kafka.server.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.*;
import org.apache.kafka.common.requests.ProduceResponse.PartitionResponse;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.server.util.timer.TimerTask;
import org.apache.kafka.storage.internals.log.*;
import rebalancecheck.*;
import scala.*;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Kafka 3's coordinator in Scala, which a broker of that release runs by default. It appends through
 * a {@code ReplicaManager} and loads from a {@code UnifiedLog}; stubs stand for both.
 */
final class ScalaNode extends Node {
    /** The setting, not one of Kafka's, that asks for this coordinator. */
    static final String SETTING = "coordinator";

    private static final Metrics METRICS = new Metrics();
    private static final Map<Map<String, String>, KafkaConfig> CONFIGURATIONS = new HashMap<>();

    /** An append that waits for the high watermark to pass its end; it is answered once. */
    private record Append(long end, Consumer<Errors> answer) { }

    private final kafka.coordinator.group.GroupCoordinator coordinator;
    private final ArrayDeque<Append> unacknowledged = new ArrayDeque<>();

    @SuppressWarnings("unchecked") ScalaNode(int id, VirtualTime time, Map<String, String> settings) {
        super(time);
        KafkaConfig config = CONFIGURATIONS.computeIfAbsent(settings, ScalaNode::configuration);
        Partition partition = Overridden.of(Partition.class, this::writeTombstones);
        UnifiedLog log = Overridden.of(UnifiedLog.class, this::read);
        ReplicaManager replicas = Overridden.of(ReplicaManager.class, (method, arguments) -> switch (method) {
            case "getMagic" -> new Some<>(RecordBatch.MAGIC_VALUE_V2);
            case "getLogEndOffset" -> new Some<>(journal.end);
            case "onlinePartition" -> new Some<>(partition);
            case "getLog" -> new Some<>(log);
            case "appendRecords" -> append(arguments);
            case "maybeStartTransactionVerificationForPartition" -> ((Function1<Object, ?>) arguments[5])
                .apply(new Tuple2<>(Errors.NONE, VerificationGuard.SENTINEL));
            default -> null;
        });
        KafkaRequestHandler.setBypassThreadCheck(true);
        coordinator = GroupCoordinator$.MODULE$.apply(config, replicas,
            new DelayedOperationPurgatory<>("Heartbeat", timers, id, 1000, false, true),
            new DelayedOperationPurgatory<>("Rebalance", timers, id, 1000, false, true), time, METRICS);
        Inside.set(coordinator.groupManager(), "scheduler", Overridden.of(KafkaScheduler.class, this::schedule));
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

    private void after(long delayMs, Runnable work) {
        timers.add(new TimerTask(delayMs) {
            @Override public void run() { work.run(); }
        });
    }

    private Object schedule(String method, Object[] arguments) {
        if (!method.startsWith("schedule")) return null;
        Runnable task = (Runnable) arguments[1];
        long delayMs = arguments.length > 2 ? (long) arguments[2] : 0;
        long periodMs = arguments.length > 3 ? (long) arguments[3] : -1;
        if (delayMs <= 0) runLater(task, false);
        else after(delayMs, () -> runLater(task, false));
        Object[] again = {arguments[0], task, 0L, periodMs};
        if (periodMs > 0) after(Math.max(delayMs, 0) + periodMs, () -> schedule(method, again));
        return null;
    }

    /** Arguments: timeout, acks, internal, origin, entries, callback, and more. */
    @SuppressWarnings("unchecked") private Object append(Object[] arguments) {
        Tuple2<TopicPartition, MemoryRecords> only =
            ((scala.collection.Map<TopicPartition, MemoryRecords>) arguments[4]).head();
        long base = journal.end;
        Set<Errors> answers = new HashSet<>();
        Consumer<Errors> answer = error -> {
            if (!answers.isEmpty()) return;
            answers.add(error);
            PartitionResponse response = new PartitionResponse(error, error == Errors.NONE ? base : -1, -1L, 0L);
            ((Function1<Object, ?>) arguments[5]).apply(CollectionConverters.asScala(Map.of(only._1, response)));
        };
        if (failure != null) {
            answer.accept(failure);
            return null;
        }
        journal.append(only._2);
        if (acknowledging) {
            journal.commit(journal.end);
            answer.accept(Errors.NONE);
        } else {
            unacknowledged.add(new Append(journal.end, answer));
            after((long) arguments[0], () -> answer.accept(Errors.REQUEST_TIMED_OUT));
        }
        return null;
    }

    /** Nobody waits for tombstones. */
    private Object writeTombstones(String method, Object[] arguments) {
        if (!method.equals("appendRecordsToLeader")) return null;
        journal.append((MemoryRecords) arguments[0]);
        if (acknowledging) highWatermark(journal.end);
        return LogAppendInfo.UNKNOWN_LOG_APPEND_INFO;
    }

    /** One batch, from the offset in the first argument; the coordinator wrote it with offsets from 0. */
    private Object read(String method, Object[] arguments) {
        if (!method.equals("read")) return 0L; // where the log begins
        MemoryRecords records = MemoryRecords.EMPTY;
        for (Journal.Batch stored : journal.batches) {
            if (stored.base() == (long) arguments[0]) {
                ByteBuffer bytes = ByteBuffer.wrap(stored.bytes().clone());
                records = MemoryRecords.readableRecords(bytes.putLong(0, stored.base()));
            }
        }
        return new FetchDataInfo(new LogOffsetMetadata((long) arguments[0]), records);
    }

    @Override void highWatermark(long offset) {
        journal.commit(offset);
        while (!unacknowledged.isEmpty() && unacknowledged.peek().end <= journal.highWatermark) {
            Append append = unacknowledged.poll();
            runLater(() -> append.answer.accept(Errors.NONE), false);
        }
    }

    /** As a broker that stops leading: appends under way fail. */
    @Override void resign(int epoch) {
        super.resign(epoch);
        unacknowledged.forEach(one -> runLater(() -> one.answer.accept(Errors.NOT_LEADER_OR_FOLLOWER), false));
        unacknowledged.clear();
    }

    @Override void elect(int epoch) {
        super.elect(epoch);
        if (holdingLoad) runLater(() -> loading().add(PARTITION_NUMBER), false);
    }

    @Override void releaseLoad() {
        holdingLoad = false;
        loading().remove(PARTITION_NUMBER);
    }

    @SuppressWarnings("unchecked") private scala.collection.mutable.Set<Object> loading() {
        return Inside.get(scala.collection.mutable.Set.class, coordinator.groupManager(), "loadingPartitions");
    }

    @Override void inspect(String group, ArrayNode to) {
        Option<GroupMetadata> found = coordinator.groupManager().getGroup(group);
        if (found.isDefined()) show(found.get().generationId(), found.get().leaderOrNull(), to);
    }

    /** Operations name their group in a field, and a session its member. */
    @Override Map<String, TimerTask> runningTimers() {
        Map<String, TimerTask> named = new HashMap<>();
        for (TimerTask task : time.running(timers)) {
            boolean ofGroup = Inside.has(task, "group");
            String group = ofGroup && Inside.get(task, "group") instanceof GroupMetadata found ? found.groupId() : "";
            named.put(switch (task.getClass().getSimpleName()) {
                case "DelayedHeartbeat" -> GroupMetadataManager.classicGroupHeartbeatKey(
                    group, String.valueOf(Inside.get(task, "memberId")));
                case "DelayedJoin", "InitialDelayedJoin" -> GroupMetadataManager.classicGroupJoinKey(group);
                case "DelayedSync" -> GroupMetadataManager.classicGroupSyncKey(group);
                default -> "other-" + named.size();
            }, task);
        }
        return named;
    }

    /** Here the broker appends the marker itself, and tells the coordinator once it stands. */
    @Override CompletableFuture<Void> endTransaction(long producer, TransactionResult result) {
        if (failure != null) return CompletableFuture.failedFuture(failure.exception());
        journal.append(MemoryRecords.withEndTransactionMarker(time.milliseconds(), producer, (short) 0,
            new EndTransactionMarker(ControlRecordType.valueOf(result.name()), 0)));
        if (acknowledging) highWatermark(journal.end);
        return ((GroupCoordinatorAdapter) service).onTransactionCompleted(producer, List.of(PARTITION), result);
    }
}
