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
import org.apache.kafka.common.message.OffsetFetchResponseData.OffsetFetchResponseGroup;
import org.apache.kafka.common.message.SyncGroupResponseData;
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
            case OFFSET_DELETE -> groups.deleteOffsets(context, ((OffsetDeleteRequest) request).data(), BUFFERS)
                .thenApply(OffsetDeleteResponse::new);
            case TXN_OFFSET_COMMIT -> groups
                .commitTransactionalOffsets(context, ((TxnOffsetCommitRequest) request).data(), BUFFERS)
                .thenApply(TxnOffsetCommitResponse::new);
            case DESCRIBE_GROUPS -> describe(groups, context, ((DescribeGroupsRequest) request).data().groups());
            case LIST_GROUPS -> groups.listGroups(context, ((ListGroupsRequest) request).data())
                .thenApply(ListGroupsResponse::new);
            case DELETE_GROUPS -> groups
                .deleteGroups(context, ((DeleteGroupsRequest) request).data().groupsNames(), BUFFERS)
                .thenApply(results -> new DeleteGroupsResponse(new DeleteGroupsResponseData().setResults(results)));
            default -> CompletableFuture.failedFuture(Errors.UNSUPPORTED_VERSION.exception());
        };
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
        OffsetCommitResponseTopic bad = new OffsetCommitResponseTopic().setName(topic.name());
        for (OffsetCommitRequestPartition partition : topic.partitions()) {
            if (partition.partitionIndex() >= 0 && partition.partitionIndex() < partitions) {
                good.partitions().add(partition);
            } else {
                bad.partitions().add(new OffsetCommitResponsePartition()
                    .setPartitionIndex(partition.partitionIndex())
                    .setErrorCode(Errors.UNKNOWN_TOPIC_OR_PARTITION.code()));
            }
        }
        if (!good.partitions().isEmpty()) {
            known.topics().add(good);
        }
        if (!bad.partitions().isEmpty()) {
            refused.topics().add(bad);
        }
    }

    /** As {@code OffsetCommitResponse.Builder.merge}: what was refused comes first. */
    private static OffsetCommitResponse merged(OffsetCommitResponseData refused, OffsetCommitResponseData answer) {
        for (OffsetCommitResponseTopic topic : answer.topics()) {
            refused.topics().stream().filter(each -> each.name().equals(topic.name())).findFirst().ifPresentOrElse(
                same -> same.partitions().addAll(topic.partitions()), () -> refused.topics().add(topic));
        }
        return new OffsetCommitResponse(refused);
    }
}
