package org.apache.kafka.coordinator.group;

import com.yammer.metrics.core.MetricsRegistry;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.message.OffsetFetchRequestData;
import org.apache.kafka.common.message.OffsetFetchResponseData;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.record.ControlRecordType;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MutableRecordBatch;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.OffsetFetchResponse;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.coordinator.group.runtime.CoordinatorEvent;
import org.apache.kafka.coordinator.group.runtime.CoordinatorEventProcessor;
import org.apache.kafka.coordinator.group.runtime.CoordinatorLoader;
import org.apache.kafka.coordinator.group.runtime.CoordinatorPlayback;
import org.apache.kafka.coordinator.group.runtime.CoordinatorRuntime;
import org.apache.kafka.coordinator.group.metrics.CoordinatorRuntimeMetrics;
import org.apache.kafka.coordinator.group.runtime.CoordinatorShardBuilder;
import org.apache.kafka.coordinator.group.runtime.PartitionWriter;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorMetrics;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.server.util.timer.TimerTask;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.VerificationGuard;
import rebalancecheck.Journal;
import rebalancecheck.Node;
import rebalancecheck.ScalaNode;
import rebalancecheck.VirtualTime;

/**
 * Kafka 3.9: the real {@code GroupCoordinatorService} and {@code CoordinatorRuntime}, put together as a broker does.
 */
public final class KafkaNode extends ServiceNode {
    private static final long MARKER_TIMEOUT_MS = 5_000;
    private static final LogContext LOG = new LogContext("");
    private static final LogConfig LOG_CONFIG = new LogConfig(Map.of());
    private static final CoordinatorRecordSerde SERDE = new CoordinatorRecordSerde();

    /** Metrics cannot be taken back, so each node of each environment keeps its own over all runs. */
    private static final Map<List<Integer>, GroupCoordinatorMetrics> METRICS = new HashMap<>();
    private static final Map<Map<String, String>, GroupCoordinatorConfig> CONFIGURATIONS = new HashMap<>();

    private PartitionWriter.Listener listener;

    public static Node start(int environment, int id, VirtualTime time, Map<String, String> settings) {
        if (settings.containsKey(ScalaNode.SETTING)) {
            return new ScalaNode(id, time, settings);
        }
        GroupCoordinatorConfig config = CONFIGURATIONS.computeIfAbsent(settings, KafkaNode::configuration);
        GroupCoordinatorMetrics metrics = METRICS.computeIfAbsent(List.of(environment, id),
            key -> new GroupCoordinatorMetrics(new MetricsRegistry(), new Metrics()));
        return new KafkaNode(time, config, metrics, settings);
    }

    private static GroupCoordinatorConfig configuration(Map<String, String> settings) {
        return new GroupCoordinatorConfig(new AbstractConfig(Utils.mergeConfigs(List.of(
            GroupCoordinatorConfig.GROUP_COORDINATOR_CONFIG_DEF,
            GroupCoordinatorConfig.NEW_GROUP_CONFIG_DEF,
            GroupCoordinatorConfig.OFFSET_MANAGEMENT_CONFIG_DEF,
            GroupCoordinatorConfig.CONSUMER_GROUP_CONFIG_DEF,
            GroupCoordinatorConfig.SHARE_GROUP_CONFIG_DEF)), settings, false));
    }

    private KafkaNode(VirtualTime time, GroupCoordinatorConfig config, GroupCoordinatorMetrics metrics,
                      Map<String, String> settings) {
        super(time);
        int linger = settings.containsKey(GroupCoordinatorConfig.GROUP_COORDINATOR_APPEND_LINGER_MS_CONFIG)
            ? config.appendLingerMs() : 0;
        CoordinatorRuntime<GroupCoordinatorShard, CoordinatorRecord> runtime =
            new CoordinatorRuntime.Builder<GroupCoordinatorShard, CoordinatorRecord>()
                .withTime(time)
                .withTimer(timers)
                .withLogPrefix("")
                .withLogContext(LOG)
                .withEventProcessor(new Events())
                .withPartitionWriter(new Writer())
                .withLoader(new Loader())
                .withCoordinatorShardBuilderSupplier(() -> shardBuilder(config))
                .withDefaultWriteTimeOut(Duration.ofMillis(config.offsetCommitTimeoutMs()))
                .withCoordinatorRuntimeMetrics(nothing(CoordinatorRuntimeMetrics.class))
                .withCoordinatorMetrics(metrics)
                .withSerializer(SERDE)
                .withCompression(Compression.NONE)
                .withAppendLingerMs(linger)
                .build();
        service = new GroupCoordinatorService(LOG, config, runtime, metrics);
        service.startup(() -> 1);
    }

    private CoordinatorShardBuilder<GroupCoordinatorShard, CoordinatorRecord> shardBuilder(
        GroupCoordinatorConfig config) {
        return new GroupCoordinatorShard.Builder(config) {
            @Override
            public GroupCoordinatorShard build() {
                GroupCoordinatorShard shard = super.build();
                groups = field(GroupCoordinatorShard.class, shard, "groupMetadataManager", GroupMetadataManager.class);
                return shard;
            }
        };
    }

    // ------------------------------------------------------------------------------------------------ parts of ours

    private final class Events implements CoordinatorEventProcessor {
        @Override
        public void enqueueLast(CoordinatorEvent event) {
            runLater(event::run, false);
        }

        @Override
        public void enqueueFirst(CoordinatorEvent event) {
            runLater(event::run, true);
        }

        @Override
        public void close() { }
    }

    private final class Writer implements PartitionWriter {
        @Override
        public void registerListener(TopicPartition partition, Listener added) {
            listener = added;
        }

        @Override
        public void deregisterListener(TopicPartition partition, Listener removed) {
            if (listener == removed) {
                listener = null;
            }
        }

        @Override
        public LogConfig config(TopicPartition partition) {
            return LOG_CONFIG;
        }

        @Override
        public long append(TopicPartition partition, VerificationGuard guard, MemoryRecords records) {
            if (failure != null) {
                throw failure.exception();
            }
            int count = 0;
            for (Record ignored : records.records()) {
                count++;
            }
            journal.append(count, records.buffer().duplicate());
            if (acknowledging) {
                highWatermark(journal.end());
            }
            return journal.end();
        }

        @Override
        public CompletableFuture<VerificationGuard> maybeStartTransactionVerification(
            TopicPartition partition, String transaction, long producer, short epoch, short version) {
            return CompletableFuture.completedFuture(VerificationGuard.SENTINEL);
        }
    }

    private final class Loader implements CoordinatorLoader<CoordinatorRecord> {
        @Override
        public CompletableFuture<LoadSummary> load(
                TopicPartition partition, CoordinatorPlayback<CoordinatorRecord> to) {
            CompletableFuture<LoadSummary> loaded = new CompletableFuture<>();
            KafkaNode.this.load(() -> {
                long count = replay(to);
                loaded.complete(new LoadSummary(time.milliseconds(), time.milliseconds(), 0, count, 0));
            });
            return loaded;
        }

        /**
         * The offsets that a load reports grow strictly and are never 0: anything else makes the load fail silently.
         */
        private long replay(CoordinatorPlayback<CoordinatorRecord> to) {
            long count = 0;
            for (Journal.Batch stored : journal.batches()) {
                long offset = stored.base();
                for (MutableRecordBatch batch : MemoryRecords.readableRecords(stored.buffer()).batches()) {
                    for (Record each : batch) {
                        replay(to, batch, each, offset++);
                        count++;
                    }
                }
                if (offset >= journal.highWatermark()) {
                    to.updateLastWrittenOffset(offset);
                }
            }
            if (journal.highWatermark() > 0) {
                to.updateLastCommittedOffset(journal.highWatermark());
            }
            return count;
        }

        private void replay(
            CoordinatorPlayback<CoordinatorRecord> to, MutableRecordBatch batch, Record each, long offset) {
            if (batch.isControlBatch()) {
                to.replayEndTransactionMarker(batch.producerId(), batch.producerEpoch(), markedResult(each));
            } else {
                to.replay(
                    offset, batch.producerId(), batch.producerEpoch(), SERDE.deserialize(each.key(), each.value()));
            }
        }

        @Override
        public void close() { }
    }

    private static TransactionResult markedResult(Record marker) {
        return ControlRecordType.parse(marker.key()) == ControlRecordType.COMMIT
            ? TransactionResult.COMMIT : TransactionResult.ABORT;
    }

    // ------------------------------------------------------------------------------------------------ for the driver

    @Override
    protected MetadataProvenance provenance(long offset) {
        return new MetadataProvenance(offset, 0, time.milliseconds());
    }

    @Override
    protected void learn(MetadataDelta delta, MetadataImage after) {
        service.onNewMetadataImage(after, delta);
    }

    @Override
    @SuppressWarnings("unchecked")
    public Map<String, TimerTask> runningTimers() {
        Object timer = field(GroupMetadataManager.class, groups, "timer", Object.class);
        return field(timer.getClass(), timer, "tasks", Map.class);
    }

    @Override
    public String journalText() {
        StringBuilder text = new StringBuilder();
        for (Journal.Batch stored : journal.batches()) {
            long offset = stored.base();
            for (MutableRecordBatch batch : MemoryRecords.readableRecords(stored.buffer()).batches()) {
                for (Record each : batch) {
                    text.append(offset++).append(' ').append(batch.producerId()).append(' ')
                        .append(batch.isControlBatch()
                            ? markedResult(each) : SERDE.deserialize(each.key(), each.value()))
                        .append('\n');
                }
            }
        }
        return text.toString();
    }

    @Override
    public void highWatermark(long offset) {
        journal.commit(offset);
        if (listener != null) {
            listener.onHighWatermarkUpdated(PARTITION, journal.highWatermark());
        }
    }

    @Override
    public CompletableFuture<Void> endTransaction(long producer, TransactionResult result) {
        Duration timeout = Duration.ofMillis(MARKER_TIMEOUT_MS);
        return service.completeTransaction(PARTITION, producer, (short) 0, 0, result, timeout);
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
}
