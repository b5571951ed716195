package rebalancecheck;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.message.DeleteGroupsResponseData;
import org.apache.kafka.common.message.DescribeGroupsResponseData;
import org.apache.kafka.common.message.OffsetCommitRequestData;
import org.apache.kafka.common.message.OffsetCommitRequestData.OffsetCommitRequestPartition;
import org.apache.kafka.common.message.OffsetCommitRequestData.OffsetCommitRequestTopic;
import org.apache.kafka.common.message.OffsetCommitResponseData;
import org.apache.kafka.common.message.OffsetCommitResponseData.OffsetCommitResponsePartition;
import org.apache.kafka.common.message.OffsetCommitResponseData.OffsetCommitResponseTopic;
import org.apache.kafka.common.message.OffsetDeleteRequestData;
import org.apache.kafka.common.message.OffsetDeleteRequestData.OffsetDeleteRequestPartition;
import org.apache.kafka.common.message.OffsetDeleteRequestData.OffsetDeleteRequestTopic;
import org.apache.kafka.common.message.OffsetDeleteRequestData.OffsetDeleteRequestTopicCollection;
import org.apache.kafka.common.message.OffsetFetchResponseData.OffsetFetchResponseGroup;
import org.apache.kafka.common.message.SyncGroupResponseData;
import org.apache.kafka.common.message.TxnOffsetCommitRequestData;
import org.apache.kafka.common.message.TxnOffsetCommitRequestData.TxnOffsetCommitRequestPartition;
import org.apache.kafka.common.message.TxnOffsetCommitRequestData.TxnOffsetCommitRequestTopic;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.*;
import org.apache.kafka.common.utils.BufferSupplier;
import org.apache.kafka.coordinator.group.GroupCoordinator;

/** What {@code KafkaApis} does between a parsed request and the coordinator, without authorisation and quotas. */
final class Apis {
    private static final BufferSupplier BUFFERS = BufferSupplier.NO_CACHING;

    private Apis() { }

    static CompletableFuture<? extends AbstractResponse> handle(
        Node node, Map<String, Integer> topics, RequestContext context, AbstractRequest request) {
        GroupCoordinator groups = node.service;
        short version = context.apiVersion();
        return switch (context.header.apiKey()) {
            case JOIN_GROUP -> groups.joinGroup(context, ((JoinGroupRequest) request).data(), BUFFERS)
                .thenApply(data -> new JoinGroupResponse(data, version));
            case SYNC_GROUP -> sync(groups, context, (SyncGroupRequest) request);
            case HEARTBEAT -> groups.heartbeat(context, ((HeartbeatRequest) request).data())
                .thenApply(HeartbeatResponse::new);
            case LEAVE_GROUP -> groups.leaveGroup(context, ((LeaveGroupRequest) request).normalizedData())
                .thenApply(data -> new LeaveGroupResponse(data, version));
            case OFFSET_COMMIT -> commit(groups, topics, context, ((OffsetCommitRequest) request).data());
            case OFFSET_FETCH -> fetch(node, context, (OffsetFetchRequest) request);
            case OFFSET_DELETE -> delete(groups, topics, context, ((OffsetDeleteRequest) request).data());
            case TXN_OFFSET_COMMIT -> commit(groups, topics, context, ((TxnOffsetCommitRequest) request).data());
            case DESCRIBE_GROUPS -> describe(groups, context, ((DescribeGroupsRequest) request).data().groups());
            case LIST_GROUPS -> groups.listGroups(context, ((ListGroupsRequest) request).data())
                .thenApply(ListGroupsResponse::new);
            case DELETE_GROUPS -> groups
                .deleteGroups(context, distinct(((DeleteGroupsRequest) request).data().groupsNames()), BUFFERS)
                .thenApply(results -> new DeleteGroupsResponse(new DeleteGroupsResponseData().setResults(results)));
            default -> CompletableFuture.failedFuture(Errors.UNSUPPORTED_VERSION.exception());
        };
    }

    private static List<String> distinct(List<String> names) {
        return names.stream().distinct().toList();
    }

    static CompletableFuture<DescribeGroupsResponse> describe(
        GroupCoordinator groups, RequestContext context, List<String> names) {
        return groups.describeGroups(context, names)
            .thenApply(found -> new DescribeGroupsResponse(new DescribeGroupsResponseData().setGroups(found)));
    }

    private static CompletableFuture<SyncGroupResponse> sync(
        GroupCoordinator groups, RequestContext context, SyncGroupRequest request) {
        if (!request.areMandatoryProtocolTypeAndNamePresent()) {
            return CompletableFuture.completedFuture(new SyncGroupResponse(
                new SyncGroupResponseData().setErrorCode(Errors.INCONSISTENT_GROUP_PROTOCOL.code())));
        }
        return groups.syncGroup(context, request.data(), BUFFERS).thenApply(SyncGroupResponse::new);
    }

    private static CompletableFuture<AbstractResponse> fetch(
        Node node, RequestContext context, OffsetFetchRequest request) {
        List<CompletableFuture<OffsetFetchResponseGroup>> fetched = request.groups().stream()
            .map(group -> node.fetchOffsets(context, group, request.requireStable())).toList();
        return CompletableFuture.allOf(fetched.toArray(CompletableFuture[]::new)).thenApply(all ->
            node.offsetFetchResponse(fetched.stream().map(CompletableFuture::join).toList(), context.apiVersion()));
    }

    /** Partitions that do not exist are refused here; the coordinator sees the others. */
    private static CompletableFuture<OffsetCommitResponse> commit(
        GroupCoordinator groups, Map<String, Integer> topics, RequestContext context, OffsetCommitRequestData data) {
        OffsetCommitRequestData known = data.duplicate().setTopics(new ArrayList<>());
        OffsetCommitResponseData refused = new OffsetCommitResponseData();
        for (OffsetCommitRequestTopic topic : data.topics()) {
            separate(topic, topics.getOrDefault(topic.name(), 0), known, refused);
        }
        if (known.topics().isEmpty()) {
            return CompletableFuture.completedFuture(new OffsetCommitResponse(refused));
        }
        return groups.commitOffsets(context, known, BUFFERS).thenApply(answer -> merged(refused, answer));
    }

    private static void separate(OffsetCommitRequestTopic topic, int partitions,
                                 OffsetCommitRequestData known, OffsetCommitResponseData refused) {
        OffsetCommitRequestTopic good = new OffsetCommitRequestTopic().setName(topic.name());
        if (partitions == 0) {
            refusedTopic(refused, topic.name());
        }
        for (OffsetCommitRequestPartition partition : topic.partitions()) {
            if (exists(partition.partitionIndex(), partitions)) {
                good.partitions().add(partition);
            } else {
                refusedTopic(refused, topic.name()).partitions().add(new OffsetCommitResponsePartition()
                    .setPartitionIndex(partition.partitionIndex())
                    .setErrorCode(Errors.UNKNOWN_TOPIC_OR_PARTITION.code()));
            }
        }
        if (!good.partitions().isEmpty()) {
            known.topics().add(good);
        }
    }

    private static boolean exists(int partition, int partitions) {
        return partition >= 0 && partition < partitions;
    }

    private static OffsetCommitResponseTopic refusedTopic(OffsetCommitResponseData refused, String name) {
        return refused.topics().stream().filter(each -> each.name().equals(name)).findFirst().orElseGet(() -> {
            OffsetCommitResponseTopic topic = new OffsetCommitResponseTopic().setName(name);
            refused.topics().add(topic);
            return topic;
        });
    }

    /** As {@code OffsetCommitResponse.Builder.merge}: what was refused comes first; without it nothing is merged. */
    private static OffsetCommitResponse merged(OffsetCommitResponseData refused, OffsetCommitResponseData answer) {
        if (refused.topics().isEmpty()) {
            return new OffsetCommitResponse(answer);
        }
        for (OffsetCommitResponseTopic topic : answer.topics()) {
            refused.topics().stream().filter(each -> each.name().equals(topic.name())).findFirst().ifPresentOrElse(
                same -> same.partitions().addAll(topic.partitions()), () -> refused.topics().add(topic));
        }
        return new OffsetCommitResponse(refused);
    }

    private static CompletableFuture<TxnOffsetCommitResponse> commit(
        GroupCoordinator groups, Map<String, Integer> topics, RequestContext context, TxnOffsetCommitRequestData data) {
        TxnOffsetCommitRequestData known = data.duplicate().setTopics(new ArrayList<>());
        TxnOffsetCommitResponse.Builder response = new TxnOffsetCommitResponse.Builder();
        for (TxnOffsetCommitRequestTopic topic : data.topics()) {
            int partitions = topics.getOrDefault(topic.name(), 0);
            List<TxnOffsetCommitRequestPartition> good = topic.partitions().stream()
                .filter(each -> exists(each.partitionIndex(), partitions)).toList();
            List<TxnOffsetCommitRequestPartition> bad = topic.partitions().stream()
                .filter(each -> !exists(each.partitionIndex(), partitions)).toList();
            if (!good.isEmpty()) {
                known.topics().add(new TxnOffsetCommitRequestTopic().setName(topic.name()).setPartitions(good));
            }
            if (partitions == 0 || !bad.isEmpty()) {
                response.addPartitions(topic.name(), bad, TxnOffsetCommitRequestPartition::partitionIndex,
                    Errors.UNKNOWN_TOPIC_OR_PARTITION);
            }
        }
        if (known.topics().isEmpty()) {
            return CompletableFuture.completedFuture(response.build());
        }
        return groups.commitTransactionalOffsets(context, known, BUFFERS)
            .thenApply(answer -> response.merge(answer).build());
    }

    private static CompletableFuture<OffsetDeleteResponse> delete(
        GroupCoordinator groups, Map<String, Integer> topics, RequestContext context, OffsetDeleteRequestData data) {
        OffsetDeleteRequestTopicCollection known = new OffsetDeleteRequestTopicCollection();
        OffsetDeleteResponse.Builder response = new OffsetDeleteResponse.Builder();
        for (OffsetDeleteRequestTopic topic : data.topics()) {
            int partitions = topics.getOrDefault(topic.name(), 0);
            List<OffsetDeleteRequestPartition> good = topic.partitions().stream()
                .filter(each -> exists(each.partitionIndex(), partitions)).toList();
            List<OffsetDeleteRequestPartition> bad = topic.partitions().stream()
                .filter(each -> !exists(each.partitionIndex(), partitions)).toList();
            if (!good.isEmpty()) {
                known.add(new OffsetDeleteRequestTopic().setName(topic.name()).setPartitions(good));
            }
            if (partitions == 0 || !bad.isEmpty()) {
                response.addPartitions(topic.name(), bad, OffsetDeleteRequestPartition::partitionIndex,
                    Errors.UNKNOWN_TOPIC_OR_PARTITION);
            }
        }
        return groups.deleteOffsets(context, new OffsetDeleteRequestData().setGroupId(data.groupId()).setTopics(known),
            BUFFERS).thenApply(answer -> response.merge(answer).build());
    }
}
