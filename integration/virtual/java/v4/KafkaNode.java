package org.apache.kafka.coordinator.group;

import com.yammer.metrics.core.MetricsRegistry;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.message.OffsetFetchRequestData;
import org.apache.kafka.common.message.OffsetFetchResponseData;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.OffsetFetchResponse;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.coordinator.common.runtime.CoordinatorEvent;
import org.apache.kafka.coordinator.common.runtime.CoordinatorEventProcessor;
import org.apache.kafka.coordinator.common.runtime.CoordinatorLoader;
import org.apache.kafka.coordinator.common.runtime.CoordinatorPlayback;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRuntimeMetrics;
import org.apache.kafka.coordinator.common.runtime.CoordinatorShardBuilder;
import org.apache.kafka.coordinator.common.runtime.CoordinatorTimerImpl;
import org.apache.kafka.coordinator.common.runtime.PartitionWriter;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorMetrics;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfig;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.server.share.persister.Persister;
import org.apache.kafka.server.util.PartitionMetadataClient;
import org.apache.kafka.server.util.timer.TimerTask;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.VerificationGuard;
import rebalancecheck.Journal;
import rebalancecheck.Node;
import rebalancecheck.VirtualTime;

/** Kafka 4: the real {@code GroupCoordinatorService} and {@code CoordinatorRuntime}, put together as a broker does. */
public final class KafkaNode extends ServiceNode {
    private static final LogContext LOG = new LogContext("");
    private static final LogConfig LOG_CONFIG = new LogConfig(Map.of());
    private static final GroupCoordinatorRecordSerde SERDE = new GroupCoordinatorRecordSerde();

    /** Metrics cannot be taken back, so each node of each environment keeps its own over all runs. */
    private static final Map<List<Integer>, GroupCoordinatorMetrics> METRICS = new HashMap<>();
    private static final Map<Map<String, String>, Configuration> CONFIGURATIONS = new HashMap<>();

    private record Configuration(GroupCoordinatorConfig group, GroupConfigManager manager) {
        static Configuration of(Map<String, String> settings) {
            GroupCoordinatorConfig group = GroupCoordinatorConfig.fromProps(settings);
            AbstractConfig all = new AbstractConfig(Utils.mergeConfigs(
                List.of(GroupCoordinatorConfig.CONFIG_DEF, ShareGroupConfig.CONFIG_DEF)), settings, false);
            return new Configuration(group, new GroupConfigManager(Map.of(), group, new ShareGroupConfig(all)));
        }
    }

    private PartitionWriter.Listener listener;

    public static Node start(int environment, int id, VirtualTime time, Map<String, String> settings) {
        Configuration configuration = CONFIGURATIONS.computeIfAbsent(settings, Configuration::of);
        GroupCoordinatorMetrics metrics = METRICS.computeIfAbsent(List.of(environment, id),
            key -> new GroupCoordinatorMetrics(new MetricsRegistry(), new Metrics()));
        return new KafkaNode(time, configuration, metrics, settings);
    }

    private KafkaNode(VirtualTime time, Configuration configuration, GroupCoordinatorMetrics metrics,
                      Map<String, String> settings) {
        super(time);
        GroupCoordinatorConfig config = configuration.group();
        OptionalInt linger = settings.containsKey(GroupCoordinatorConfig.GROUP_COORDINATOR_APPEND_LINGER_MS_CONFIG)
            ? config.appendLingerMs() : OptionalInt.empty();
        CoordinatorRuntime<GroupCoordinatorShard, CoordinatorRecord> runtime =
            new CoordinatorRuntime.Builder<GroupCoordinatorShard, CoordinatorRecord>()
                .withTime(time)
                .withTimer(timers)
                .withLogPrefix("")
                .withLogContext(LOG)
                .withEventProcessor(new Events())
                .withPartitionWriter(new Writer())
                .withLoader(new Loader())
                .withCoordinatorShardBuilderSupplier(() -> shardBuilder(configuration))
                .withWriteTimeout(Duration.ofMillis(config.offsetCommitTimeoutMs()))
                .withCoordinatorRuntimeMetrics(nothing(CoordinatorRuntimeMetrics.class))
                .withCoordinatorMetrics(metrics)
                .withSerializer(SERDE)
                .withCompression(Compression.NONE)
                .withAppendLingerMs(linger)
                .withExecutorService(time.new Background())
                .withCachedBufferMaxBytesSupplier(config::cachedBufferMaxBytes)
                .build();
        service = new GroupCoordinatorService(LOG, config, runtime, metrics, configuration.manager(),
            nothing(Persister.class), timers, nothing(PartitionMetadataClient.class));
        service.startup(() -> 1);
    }

    private CoordinatorShardBuilder<GroupCoordinatorShard, CoordinatorRecord> shardBuilder(
            Configuration configuration) {
        GroupCoordinatorShard.Builder builder =
            new GroupCoordinatorShard.Builder(configuration.group(), configuration.manager()) {
                @Override
                public GroupCoordinatorShard build() {
                    GroupCoordinatorShard shard = super.build();
                    groups = field(GroupCoordinatorShard.class, shard, "groupMetadataManager",
                        GroupMetadataManager.class);
                    return shard;
                }
            };
        return builder.withAuthorizerPlugin(Optional.empty());
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
        public long append(TopicPartition partition, VerificationGuard guard, MemoryRecords records, short version) {
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
            TopicPartition partition, String transaction, long producer, short epoch, int version) {
            return CompletableFuture.completedFuture(VerificationGuard.SENTINEL);
        }

        @Override
        public CompletableFuture<Void> deleteRecords(TopicPartition partition, long before) {
            return CompletableFuture.completedFuture(null);
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
        return new MetadataProvenance(offset, 0, time.milliseconds(), true);
    }

    @Override
    protected void learn(MetadataDelta delta, MetadataImage after) {
        service.onMetadataUpdate(delta, after);
    }

    @Override
    @SuppressWarnings("unchecked")
    public Map<String, TimerTask> runningTimers() {
        Object timer = field(GroupMetadataManager.class, groups, "timer", Object.class);
        return field(CoordinatorTimerImpl.class, timer, "tasks", Map.class);
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
        return service.completeTransaction(PARTITION, producer, (short) 0, 0, result, (short) 0);
    }

    @Override
    public CompletableFuture<OffsetFetchResponseData.OffsetFetchResponseGroup> fetchOffsets(
        RequestContext context, OffsetFetchRequestData.OffsetFetchRequestGroup group, boolean stable) {
        return service.fetchOffsets(context, group, stable);
    }

    @Override
    public AbstractResponse offsetFetchResponse(
        List<OffsetFetchResponseData.OffsetFetchResponseGroup> fetched, short version) {
        return new OffsetFetchResponse.Builder(fetched).build(version);
    }
}
