package rebalancecheck.recorder;

import static rebalancecheck.recorder.MemberRecorder.*;

import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.common.*;

/**
 * Records the rebalances of a consumer whose properties name {@link RecordingInterceptor}:
 *
 * <pre>consumer.subscribe(topics, new RecordingRebalanceListener(consumer, listenerOfTheApplication));</pre>
 *
 * <p>An assignment is recorded before the application learns of it, a revocation after it has given it up: it
 * owns the partitions from the one to the other. Lost partitions are gone already.
 */
public class RecordingRebalanceListener implements ConsumerRebalanceListener {
    private static final int NO_GENERATION = -1;

    private final Consumer<?, ?> consumer;
    private final ConsumerRebalanceListener application;
    private int generation = NO_GENERATION;
    private String memberId = "";
    private String lost = "";
    private Set<String> topics = Collections.emptySet();

    public RecordingRebalanceListener(Consumer<?, ?> consumer) { this(consumer, null); }

    /** {@code application} is the listener of the application; null for none. */
    public RecordingRebalanceListener(Consumer<?, ?> consumer, ConsumerRebalanceListener application) {
        this.consumer = consumer;
        this.application = application;
        recorder();
    }

    @Override public void onPartitionsAssigned(Collection<TopicPartition> assigned) {
        look();
        emit("PartitionsAssigned", "partitions", assigned);
        emit("AssignmentCompleted", "owned", consumer.assignment());
        if (application != null) application.onPartitionsAssigned(assigned);
    }

    @Override public void onPartitionsRevoked(Collection<TopicPartition> revoked) {
        try {
            if (application != null) application.onPartitionsRevoked(revoked);
        } finally {
            look();
            if (!revoked.isEmpty()) emit("PartitionsRevoked", "partitions", revoked);
        }
    }

    @Override public void onPartitionsLost(Collection<TopicPartition> lost) {
        lose();
        emit("PartitionsLost", "partitions", lost);
        if (application != null) application.onPartitionsLost(lost);
    }

    /**
     * A generation is joined where the consumer shows it first; another member id means that the membership was lost.
     * The consumer goes on showing the membership that it lost until it has another one.
     */
    private void look() {
        if (!topics.equals(consumer.subscription())) {
            topics = new TreeSet<>(consumer.subscription());
            recorder().emit("SubscriptionChanged", texts("topics", topics));
        }
        ConsumerGroupMetadata now = consumer.groupMetadata();
        if (now.generationId() == NO_GENERATION || !memberId.isEmpty() && !memberId.equals(now.memberId())) lose();
        if (now.generationId() != generation && !now.memberId().isEmpty()
                && !lost.equals(membership(now.generationId(), now.memberId()))) {
            generation = now.generationId();
            memberId = now.memberId();
            lost = "";
            emit("MemberJoined", "owned_partitions", Collections.<TopicPartition>emptyList());
        }
    }

    private void lose() {
        if (generation == NO_GENERATION) return;
        recorder().emit("MembershipLost", place() + text("reason", "not notified"));
        lost = membership(generation, memberId);
        generation = NO_GENERATION;
        memberId = "";
    }

    private static String membership(int generation, String memberId) { return generation + " " + memberId; }

    private void emit(String event, String name, Collection<TopicPartition> partitions) {
        recorder().emit(event, place() + partitions(name, partitions));
    }

    private String place() { return number("generation", generation) + text("member_id", memberId); }

    private MemberRecorder recorder() {
        for (MetricName name : consumer.metrics().keySet()) {
            String clientId = name.tags().get("client-id");
            MemberRecorder found = clientId == null ? null : RecordingInterceptor.of(clientId);
            if (found != null) return found;
        }
        throw new IllegalStateException("the consumer is not recorded: name " + RecordingInterceptor.class.getName()
                + " in its interceptor.classes");
    }
}
