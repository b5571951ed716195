package org.apache.kafka.coordinator.group;

import java.util.*;
import java.util.concurrent.CompletableFuture;
import java.util.function.*;
import java.util.stream.Collectors;
import org.apache.kafka.common.message.*;
import org.apache.kafka.common.message.OffsetCommitRequestData.*;
import org.apache.kafka.common.message.OffsetCommitResponseData.*;
import org.apache.kafka.common.message.OffsetDeleteRequestData.*;
import org.apache.kafka.common.message.OffsetFetchResponseData.OffsetFetchResponseGroup;
import org.apache.kafka.common.message.TxnOffsetCommitRequestData.*;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.*;
import org.apache.kafka.common.utils.BufferSupplier;

/** The part of {@code KafkaApis} between a parsed request and the coordinator, without authorisation and quotas. */
record Apis(GroupCoordinator groups, Map<String, Integer> topics, RequestContext context) {
    private static final BufferSupplier BUFFERS = BufferSupplier.NO_CACHING;

    CompletableFuture<? extends AbstractResponse> handle(AbstractRequest request) {
        short version = context.apiVersion();
        return switch (context.header.apiKey()) {
            case JOIN_GROUP -> groups.joinGroup(context, ((JoinGroupRequest) request).data(), BUFFERS)
                .thenApply(data -> new JoinGroupResponse(data, version));
            case SYNC_GROUP -> sync((SyncGroupRequest) request);
            case HEARTBEAT -> groups.heartbeat(context, ((HeartbeatRequest) request).data())
                .thenApply(HeartbeatResponse::new);
            case LEAVE_GROUP -> groups.leaveGroup(context, ((LeaveGroupRequest) request).normalizedData())
                .thenApply(data -> new LeaveGroupResponse(data, version));
            case OFFSET_COMMIT -> commit(((OffsetCommitRequest) request).data());
            case OFFSET_FETCH -> fetch((OffsetFetchRequest) request);
            case OFFSET_DELETE -> delete(((OffsetDeleteRequest) request).data());
            case TXN_OFFSET_COMMIT -> commit(((TxnOffsetCommitRequest) request).data());
            case DESCRIBE_GROUPS -> describe(((DescribeGroupsRequest) request).data().groups());
            case LIST_GROUPS -> groups.listGroups(context, ((ListGroupsRequest) request).data())
                .thenApply(ListGroupsResponse::new);
            case DELETE_GROUPS -> groups.deleteGroups(context,
                    ((DeleteGroupsRequest) request).data().groupsNames().stream().distinct().toList(), BUFFERS)
                .thenApply(results -> new DeleteGroupsResponse(new DeleteGroupsResponseData().setResults(results)));
            default -> CompletableFuture.failedFuture(Errors.UNSUPPORTED_VERSION.exception());
        };
    }

    CompletableFuture<DescribeGroupsResponse> describe(List<String> names) {
        return groups.describeGroups(context, names)
            .thenApply(found -> new DescribeGroupsResponse(new DescribeGroupsResponseData().setGroups(found)));
    }

    private CompletableFuture<SyncGroupResponse> sync(SyncGroupRequest request) {
        return request.areMandatoryProtocolTypeAndNamePresent()
            ? groups.syncGroup(context, request.data(), BUFFERS).thenApply(SyncGroupResponse::new)
            : CompletableFuture.completedFuture(new SyncGroupResponse(
                new SyncGroupResponseData().setErrorCode(Errors.INCONSISTENT_GROUP_PROTOCOL.code())));
    }

    private CompletableFuture<AbstractResponse> fetch(OffsetFetchRequest request) {
        List<CompletableFuture<OffsetFetchResponseGroup>> fetched = request.groups().stream()
            .map(group -> Release.fetchOffsets(groups, context, group, request.requireStable())).toList();
        return CompletableFuture.allOf(fetched.toArray(CompletableFuture[]::new)).thenApply(all ->
            Release.offsetFetchResponse(fetched.stream().map(CompletableFuture::join).toList(), context.apiVersion()));
    }

    /** Partitions that do not exist are refused here, and so is a topic; the coordinator sees the others. */
    private <P> void separate(
        String topic, List<P> asked, ToIntFunction<P> index, Consumer<List<P>> known, Consumer<List<P>> refused) {
        int count = topics.getOrDefault(topic, 0);
        Map<Boolean, List<P>> parts = asked.stream().collect(Collectors.partitioningBy(
            each -> index.applyAsInt(each) >= 0 && index.applyAsInt(each) < count));
        if (!parts.get(true).isEmpty()) known.accept(parts.get(true));
        if (count == 0 || !parts.get(false).isEmpty()) refused.accept(parts.get(false));
    }

    private CompletableFuture<OffsetCommitResponse> commit(OffsetCommitRequestData data) {
        OffsetCommitRequestData known = data.duplicate().setTopics(new ArrayList<>());
        OffsetCommitResponseData refused = new OffsetCommitResponseData();
        data.topics().forEach(topic -> separate(
            topic.name(), topic.partitions(), OffsetCommitRequestPartition::partitionIndex,
            good -> known.topics().add(new OffsetCommitRequestTopic().setName(topic.name()).setPartitions(good)),
            bad -> {
                OffsetCommitResponseTopic named = named(refused, topic.name());
                bad.forEach(each -> named.partitions().add(new OffsetCommitResponsePartition()
                    .setPartitionIndex(each.partitionIndex())
                    .setErrorCode(Errors.UNKNOWN_TOPIC_OR_PARTITION.code())));
            }));
        return known.topics().isEmpty() ? CompletableFuture.completedFuture(new OffsetCommitResponse(refused))
            : groups.commitOffsets(context, known, BUFFERS).thenApply(answer -> merged(refused, answer));
    }

    private static OffsetCommitResponseTopic named(OffsetCommitResponseData refused, String name) {
        return refused.topics().stream().filter(each -> each.name().equals(name)).findFirst().orElseGet(() -> {
            refused.topics().add(new OffsetCommitResponseTopic().setName(name));
            return refused.topics().get(refused.topics().size() - 1);
        });
    }

    /** As {@code OffsetCommitResponse.Builder.merge}: refused partitions come first; without them nothing is merged. */
    private static OffsetCommitResponse merged(OffsetCommitResponseData refused, OffsetCommitResponseData answer) {
        if (refused.topics().isEmpty()) return new OffsetCommitResponse(answer);
        answer.topics().forEach(topic -> named(refused, topic.name()).partitions().addAll(topic.partitions()));
        return new OffsetCommitResponse(refused);
    }

    private CompletableFuture<TxnOffsetCommitResponse> commit(TxnOffsetCommitRequestData data) {
        TxnOffsetCommitRequestData known = data.duplicate().setTopics(new ArrayList<>());
        TxnOffsetCommitResponse.Builder response = new TxnOffsetCommitResponse.Builder();
        data.topics().forEach(topic -> separate(
            topic.name(), topic.partitions(), TxnOffsetCommitRequestPartition::partitionIndex,
            good -> known.topics().add(new TxnOffsetCommitRequestTopic().setName(topic.name()).setPartitions(good)),
            bad -> response.addPartitions(topic.name(), bad, TxnOffsetCommitRequestPartition::partitionIndex,
                Errors.UNKNOWN_TOPIC_OR_PARTITION)));
        return known.topics().isEmpty() ? CompletableFuture.completedFuture(response.build())
            : groups.commitTransactionalOffsets(context, known, BUFFERS)
                .thenApply(answer -> response.merge(answer).build());
    }

    private CompletableFuture<OffsetDeleteResponse> delete(OffsetDeleteRequestData data) {
        OffsetDeleteRequestTopicCollection known = new OffsetDeleteRequestTopicCollection();
        OffsetDeleteResponse.Builder response = new OffsetDeleteResponse.Builder();
        data.topics().forEach(topic -> separate(
            topic.name(), topic.partitions(), OffsetDeleteRequestPartition::partitionIndex,
            good -> known.add(new OffsetDeleteRequestTopic().setName(topic.name()).setPartitions(good)),
            bad -> response.addPartitions(topic.name(), bad, OffsetDeleteRequestPartition::partitionIndex,
                Errors.UNKNOWN_TOPIC_OR_PARTITION)));
        return groups.deleteOffsets(context, new OffsetDeleteRequestData().setGroupId(data.groupId()).setTopics(known),
            BUFFERS).thenApply(answer -> response.merge(answer).build());
    }
}
