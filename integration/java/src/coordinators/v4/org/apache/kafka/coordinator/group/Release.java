package org.apache.kafka.coordinator.group;

import java.time.Duration;
import java.util.*;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.message.OffsetFetchRequestData.OffsetFetchRequestGroup;
import org.apache.kafka.common.message.OffsetFetchResponseData.OffsetFetchResponseGroup;
import org.apache.kafka.common.requests.*;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.coordinator.common.runtime.*;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorMetrics;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfig;
import org.apache.kafka.server.share.persister.Persister;
import org.apache.kafka.server.util.PartitionMetadataClient;
import rebalancecheck.Inside;

/** The special part of Kafka 4. */
final class Release {
    static final GroupCoordinatorRecordSerde SERDE = new GroupCoordinatorRecordSerde();
    private static final Map<Map<String, String>, Configuration> CONFIGURATIONS = new HashMap<>();

    private record Configuration(GroupCoordinatorConfig group, GroupConfigManager manager) {
        static Configuration of(Map<String, String> settings) {
            GroupCoordinatorConfig group = GroupCoordinatorConfig.fromProps(settings);
            AbstractConfig all = new AbstractConfig(Utils.mergeConfigs(
                List.of(GroupCoordinatorConfig.CONFIG_DEF, ShareGroupConfig.CONFIG_DEF)), settings, false);
            return new Configuration(group, new GroupConfigManager(Map.of(), group, new ShareGroupConfig(all)));
        }
    }

    static Node start(String environment, int id, VirtualTime time, Map<String, String> settings) {
        return new KafkaNode(environment, id, time, settings);
    }

    static GroupCoordinatorService service(
        KafkaNode node, Map<String, String> settings, GroupCoordinatorMetrics metrics) {
        LogContext log = new LogContext("");
        Configuration configuration = CONFIGURATIONS.computeIfAbsent(settings, Configuration::of);
        GroupCoordinatorConfig config = configuration.group();
        var runtime = new CoordinatorRuntime.Builder<GroupCoordinatorShard, CoordinatorRecord>()
            .withTime(node.time).withTimer(node.timers).withLogPrefix("").withLogContext(log)
            .withEventProcessor(node.events()).withPartitionWriter(node.writer()).withLoader(node.loader())
            .withCoordinatorShardBuilderSupplier(() ->
                new GroupCoordinatorShard.Builder(config, configuration.manager()) {
                    @Override public GroupCoordinatorShard build() { return node.shard = super.build(); }
                }.withAuthorizerPlugin(Optional.empty()))
            .withWriteTimeout(Duration.ofMillis(config.offsetCommitTimeoutMs()))
            .withCoordinatorRuntimeMetrics(Inside.nothing(CoordinatorRuntimeMetrics.class))
            .withCoordinatorMetrics(metrics).withSerializer(SERDE).withCompression(Compression.NONE)
            .withAppendLingerMs(settings.containsKey(GroupCoordinatorConfig.GROUP_COORDINATOR_APPEND_LINGER_MS_CONFIG)
                ? config.appendLingerMs() : OptionalInt.empty())
            .withExecutorService(node.time.background())
            .withCachedBufferMaxBytesSupplier(config::cachedBufferMaxBytes)
            .build();
        return new GroupCoordinatorService(log, config, runtime, metrics, configuration.manager(),
            Inside.nothing(Persister.class), node.timers, Inside.nothing(PartitionMetadataClient.class));
    }

    static CompletableFuture<Void> endTransaction(
        GroupCoordinatorService service, TopicPartition partition, long producer, TransactionResult result) {
        return service.completeTransaction(partition, producer, (short) 0, 0, result, (short) 0);
    }

    static CompletableFuture<OffsetFetchResponseGroup> fetchOffsets(
        GroupCoordinator service, RequestContext context, OffsetFetchRequestGroup group, boolean stable) {
        return service.fetchOffsets(context, group, stable);
    }

    static AbstractResponse offsetFetchResponse(List<OffsetFetchResponseGroup> fetched, short version) {
        return new OffsetFetchResponse.Builder(fetched).build(version);
    }
}
