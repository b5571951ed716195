import java.time.Duration;
import java.util.*;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.common.*;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import rebalancecheck.recorder.RecordingRebalanceListener;

/** An application in Java that is recorded: BOOTSTRAP GROUP TOPIC MEMBER HISTORY [MODE] until its input ends. */
public class RecordedConsumer {
    public static void main(String[] args) {
        String mode = args.length > 5 ? args[5] : "";
        String assignor = "org.apache.kafka.clients.consumer."
                + (mode.equals("cooperative") ? "CooperativeSticky" : "Range") + "Assignor";
        Map<String, Object> properties = new HashMap<>(Map.of("bootstrap.servers", args[0], "group.id", args[1],
                "client.id", args[3], "auto.offset.reset", "earliest", "auto.commit.interval.ms", 200,
                "session.timeout.ms", 3000, "heartbeat.interval.ms", 300, "max.poll.interval.ms", 6000,
                "enable.auto.commit", mode.equals("interceptor-only")));
        properties.putAll(Map.of("interceptor.classes", "rebalancecheck.recorder.RecordingInterceptor",
                "rebalance.check.history", args[4], "rebalance.check.member", "{client.id}",
                "partition.assignment.strategy", mode.equals("doubles") ? Doubling.class.getName() : assignor));
        AtomicBoolean leaving = new AtomicBoolean();
        Thread reader = new Thread(() -> {
            try { while (System.in.read() >= 0); } catch (java.io.IOException end) { /* as its end */ }
            leaving.set(true);
        });
        reader.setDaemon(true);
        reader.start();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<String> topics = Collections.singletonList(args[2]);
            if (mode.equals("interceptor-only")) consumer.subscribe(topics);
            else consumer.subscribe(topics, new RecordingRebalanceListener(consumer));
            while (!leaving.get()) consume(consumer, mode);
        }
    }

    private static void consume(KafkaConsumer<byte[], byte[]> consumer, String mode) {
        Map<TopicPartition, OffsetAndMetadata> read = new HashMap<>();
        for (ConsumerRecord<byte[], byte[]> one : consumer.poll(Duration.ofMillis(200))) {
            read.put(new TopicPartition(one.topic(), one.partition()), new OffsetAndMetadata(one.offset() + 1));
        }
        if (mode.equals("interceptor-only")) return;
        for (TopicPartition one : consumer.assignment()) {
            read.putIfAbsent(one, new OffsetAndMetadata(consumer.position(one)));
        }
        try { consumer.commitSync(read); } catch (KafkaException refused) { /* the next round decides who owns what */ }
    }

    /** Gives every member all that is subscribed to. */
    public static class Doubling extends RangeAssignor {
        @Override public GroupAssignment assign(Cluster cluster, GroupSubscription subscriptions) {
            List<TopicPartition> all = new ArrayList<>();
            Map<String, ConsumerPartitionAssignor.Assignment> doubled = new HashMap<>();
            super.assign(cluster, subscriptions).groupAssignment().values()
                .forEach(one -> all.addAll(one.partitions()));
            subscriptions.groupSubscription().keySet().forEach(
                    member -> doubled.put(member, new ConsumerPartitionAssignor.Assignment(all)));
            return new GroupAssignment(doubled);
        }
    }
}
