package org.apache.kafka.coordinator.group;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.yammer.metrics.core.MetricsRegistry;
import java.util.*;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.record.*;
import org.apache.kafka.common.record.internal.*;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.coordinator.common.runtime.*;
import org.apache.kafka.coordinator.group.classic.ClassicGroup;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorMetrics;
import org.apache.kafka.coordinator.group.runtime.*;
import org.apache.kafka.server.util.timer.TimerTask;
import org.apache.kafka.storage.internals.log.*;
import rebalancecheck.Inside;

/**
 * Kafka's coordinator in Java: the real {@code GroupCoordinatorService} and {@code CoordinatorRuntime}, put together as
 * a broker does. The parts whose names or signatures differ between releases are in each {@code Release}.
 */
final class KafkaNode extends Node {
    private static final LogConfig LOG_CONFIG = new LogConfig(Map.of());

    /** Metrics cannot be taken back, so each node of each environment keeps its own over all runs. */
    private static final Map<String, GroupCoordinatorMetrics> METRICS = new HashMap<>();

    /** The coordinator's shard, which {@code Release} notes when the runtime builds it. */
    GroupCoordinatorShard shard;
    private final GroupCoordinatorService kafka;
    private PartitionWriter.Listener listener;
    private Runnable heldLoad;

    KafkaNode(String environment, int id, VirtualTime time, Map<String, String> settings) {
        super(time);
        GroupCoordinatorMetrics metrics = METRICS.computeIfAbsent(environment + " " + id,
            key -> new GroupCoordinatorMetrics(new MetricsRegistry(), new Metrics()));
        service = kafka = Release.service(this, settings, metrics);
        service.startup(() -> 1);
    }

    CoordinatorEventProcessor events() {
        return Inside.stub(CoordinatorEventProcessor.class, (method, arguments) -> {
            if (method.startsWith("enqueue")) {
                runLater(((CoordinatorEvent) arguments[0])::run, method.equals("enqueueFirst"));
            }
            return null;
        });
    }

    PartitionWriter writer() {
        return Inside.stub(PartitionWriter.class, (method, arguments) -> switch (method) {
            case "registerListener" -> listener = (PartitionWriter.Listener) arguments[1];
            case "deregisterListener" -> listener = listener == arguments[1] ? null : listener;
            case "config" -> LOG_CONFIG;
            case "append" -> append((MemoryRecords) arguments[2]);
            case "maybeStartTransactionVerification" ->
                CompletableFuture.completedFuture(VerificationGuard.SENTINEL);
            default -> CompletableFuture.completedFuture(null);
        });
    }

    private long append(MemoryRecords records) {
        if (failure != null) throw failure.exception();
        journal.append(records);
        if (acknowledging) highWatermark(journal.end);
        return journal.end;
    }

    @SuppressWarnings("unchecked") CoordinatorLoader<CoordinatorRecord> loader() {
        return Inside.stub(CoordinatorLoader.class, (method, arguments) -> {
            if (!method.equals("load")) return null;
            CompletableFuture<CoordinatorLoader.LoadSummary> loaded = new CompletableFuture<>();
            heldLoad = () -> {
                long count = replay((CoordinatorPlayback<CoordinatorRecord>) arguments[1]);
                long now = time.milliseconds();
                loaded.complete(new CoordinatorLoader.LoadSummary(now, now, 0, count, 0));
            };
            if (!holdingLoad) releaseLoad();
            return loaded;
        });
    }

    @Override void releaseLoad() {
        holdingLoad = false;
        Runnable work = heldLoad;
        heldLoad = null;
        if (work != null) work.run();
    }

    /** The offsets that a load reports grow strictly and are never 0: anything else makes the load fail silently. */
    private long replay(CoordinatorPlayback<CoordinatorRecord> to) {
        long offset = 0;
        for (Journal.Batch stored : journal.batches) {
            offset = stored.base();
            for (MutableRecordBatch batch : stored.records()) {
                for (var each : batch) {
                    if (batch.isControlBatch()) {
                        to.replayEndTransactionMarker(
                            batch.producerId(), batch.producerEpoch(), Journal.markedResult(each.key()));
                    } else {
                        to.replay(offset, batch.producerId(), batch.producerEpoch(),
                            Release.SERDE.deserialize(each.key(), each.value()));
                    }
                    offset++;
                }
            }
            if (offset >= journal.highWatermark) to.updateLastWrittenOffset(offset);
        }
        if (journal.highWatermark > 0) to.updateLastCommittedOffset(journal.highWatermark);
        return offset;
    }

    private GroupMetadataManager groups() {
        return Inside.get(GroupMetadataManager.class, shard, "groupMetadataManager");
    }

    @Override void inspect(String group, ArrayNode to) {
        try {
            Group found = groups().group(group);
            if (found instanceof ClassicGroup classic) show(classic.generationId(), classic.leaderOrNull(), to);
        } catch (GroupIdNotFoundException none) { /* nothing to show */ }
    }

    @Override @SuppressWarnings("unchecked")
    Map<String, TimerTask> runningTimers() { return Inside.get(Map.class, Inside.get(groups(), "timer"), "tasks"); }

    @Override void highWatermark(long offset) {
        journal.commit(offset);
        if (listener != null) listener.onHighWatermarkUpdated(PARTITION, journal.highWatermark);
    }

    @Override CompletableFuture<Void> endTransaction(long producer, TransactionResult result) {
        return Release.endTransaction(kafka, PARTITION, producer, result);
    }
}
