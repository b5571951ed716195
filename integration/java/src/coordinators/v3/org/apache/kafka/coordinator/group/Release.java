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
import org.apache.kafka.coordinator.group.metrics.*;
import org.apache.kafka.coordinator.group.runtime.CoordinatorRuntime;
import rebalancecheck.Inside;

/** The special part of Kafka 3.9. */
final class Release {
    static final CoordinatorRecordSerde SERDE = new CoordinatorRecordSerde();
    private static final Duration MARKER_TIMEOUT = Duration.ofSeconds(5);
    private static final Map<Map<String, String>, GroupCoordinatorConfig> CONFIGURATIONS = new HashMap<>();

    static Node start(String environment, int id, VirtualTime time, Map<String, String> settings) {
        return settings.containsKey(ScalaNode.SETTING)
            ? new ScalaNode(id, time, settings) : new KafkaNode(environment, id, time, settings);
    }

    private static GroupCoordinatorConfig configuration(Map<String, String> settings) {
        return new GroupCoordinatorConfig(new AbstractConfig(Utils.mergeConfigs(List.of(
            GroupCoordinatorConfig.GROUP_COORDINATOR_CONFIG_DEF,
            GroupCoordinatorConfig.NEW_GROUP_CONFIG_DEF,
            GroupCoordinatorConfig.OFFSET_MANAGEMENT_CONFIG_DEF,
            GroupCoordinatorConfig.CONSUMER_GROUP_CONFIG_DEF,
            GroupCoordinatorConfig.SHARE_GROUP_CONFIG_DEF)), settings, false));
    }

    static GroupCoordinatorService service(
        KafkaNode node, Map<String, String> settings, GroupCoordinatorMetrics metrics) {
        LogContext log = new LogContext("");
        GroupCoordinatorConfig config = CONFIGURATIONS.computeIfAbsent(settings, Release::configuration);
        var runtime = new CoordinatorRuntime.Builder<GroupCoordinatorShard, CoordinatorRecord>()
            .withTime(node.time).withTimer(node.timers).withLogPrefix("").withLogContext(log)
            .withEventProcessor(node.events()).withPartitionWriter(node.writer()).withLoader(node.loader())
            .withCoordinatorShardBuilderSupplier(() -> new GroupCoordinatorShard.Builder(config) {
                @Override public GroupCoordinatorShard build() { return node.shard = super.build(); }
            })
            .withDefaultWriteTimeOut(Duration.ofMillis(config.offsetCommitTimeoutMs()))
            .withCoordinatorRuntimeMetrics(Inside.nothing(CoordinatorRuntimeMetrics.class))
            .withCoordinatorMetrics(metrics).withSerializer(SERDE).withCompression(Compression.NONE)
            .withAppendLingerMs(settings.containsKey(GroupCoordinatorConfig.GROUP_COORDINATOR_APPEND_LINGER_MS_CONFIG)
                ? config.appendLingerMs() : 0)
            .build();
        return new GroupCoordinatorService(log, config, runtime, metrics);
    }

    static CompletableFuture<Void> endTransaction(
        GroupCoordinatorService service, TopicPartition partition, long producer, TransactionResult result) {
        return service.completeTransaction(partition, producer, (short) 0, 0, result, MARKER_TIMEOUT);
    }

    static CompletableFuture<OffsetFetchResponseGroup> fetchOffsets(
        GroupCoordinator service, RequestContext context, OffsetFetchRequestGroup group, boolean stable) {
        return group.topics() == null
            ? service.fetchAllOffsets(context, group, stable) : service.fetchOffsets(context, group, stable);
    }

    static AbstractResponse offsetFetchResponse(List<OffsetFetchResponseGroup> fetched, short version) {
        return new OffsetFetchResponse(fetched, version);
    }
}
