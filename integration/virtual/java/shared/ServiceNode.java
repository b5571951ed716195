package org.apache.kafka.coordinator.group;

import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.coordinator.group.classic.ClassicGroup;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import rebalancecheck.Node;
import rebalancecheck.VirtualTime;

/**
 * What the nodes with Kafka's coordinator in Java have in common. What differs between the releases, mostly the
 * packages of what they are put together from, is in each {@code KafkaNode}.
 */
abstract class ServiceNode extends Node {
    protected GroupMetadataManager groups;
    private MetadataImage image = MetadataImage.EMPTY;
    private Runnable heldLoad;

    protected ServiceNode(VirtualTime time) {
        super(time);
    }

    /** Where metadata come from: the offset of the last record in them. */
    protected abstract MetadataProvenance provenance(long offset);

    /** Notifies the coordinator of new metadata. */
    protected abstract void learn(MetadataDelta delta, MetadataImage after);

    @Override
    public void announce(Map<String, Integer> partitionsOfTopic) {
        MetadataDelta delta = new MetadataDelta.Builder().setImage(image).build();
        delta.replay(new RegisterBrokerRecord().setBrokerId(0).setFenced(false).setIncarnationId(new Uuid(1, 1)));
        partitionsOfTopic.forEach((name, partitions) -> {
            Uuid topic = new Uuid(name.hashCode(), 1);
            delta.replay(new TopicRecord().setName(name).setTopicId(topic));
            for (int p = 0; p < partitions; p++) {
                delta.replay(new PartitionRecord().setTopicId(topic).setPartitionId(p)
                    .setReplicas(List.of(0)).setIsr(List.of(0)).setLeader(0));
            }
        });
        image = delta.apply(provenance(image.provenance().lastContainedOffset() + 1));
        learn(delta, image);
    }

    @Override
    public Inside inspect(String group) {
        try {
            return groups.group(group) instanceof ClassicGroup found
                ? new Inside(found.generationId(), found.leaderOrNull() == null ? "" : found.leaderOrNull()) : null;
        } catch (GroupIdNotFoundException e) {
            return null;
        }
    }

    @Override
    public String sessionKey(String group, String member) {
        return GroupMetadataManager.classicGroupHeartbeatKey(group, member);
    }

    @Override
    public String joinKey(String group) {
        return GroupMetadataManager.classicGroupJoinKey(group);
    }

    @Override
    public String syncKey(String group) {
        return GroupMetadataManager.classicGroupSyncKey(group);
    }

    /** Read the log, now or when the load is released. */
    protected void load(Runnable work) {
        if (holdingLoad) {
            heldLoad = work;
        } else {
            work.run();
        }
    }

    @Override
    public void releaseLoad() {
        holdingLoad = false;
        Runnable work = heldLoad;
        heldLoad = null;
        if (work != null) {
            work.run();
        }
    }
}
