import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import rebalancecheck.recorder.RecordingRebalanceListener;

/** An application in Java that is recorded: BOOTSTRAP GROUP TOPIC MEMBER HISTORY [MODE] until its input ends. */
public class RecordedConsumer {
    public static void main(String[] args) {
        String mode = args.length > 5 ? args[5] : "";
        Properties properties = new Properties();
        properties.put("bootstrap.servers", args[0]);
        properties.put("group.id", args[1]);
        properties.put("client.id", args[3]);
        properties.put("auto.offset.reset", "earliest");
        properties.put("enable.auto.commit", mode.equals("interceptor-only"));
        properties.put("auto.commit.interval.ms", 200);
        properties.put("session.timeout.ms", 3000);
        properties.put("heartbeat.interval.ms", 300);
        properties.put("max.poll.interval.ms", 6000);
        properties.put("partition.assignment.strategy", mode.equals("doubles") ? Doubling.class.getName()
                : "org.apache.kafka.clients.consumer."
                    + (mode.equals("cooperative") ? "CooperativeSticky" : "Range") + "Assignor");
        properties.put("interceptor.classes", "rebalancecheck.recorder.RecordingInterceptor");
        properties.put("rebalance.check.history", args[4]);
        properties.put("rebalance.check.member", "{client.id}");
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
        try {
            consumer.commitSync(read);
        } catch (KafkaException refused) {
            // the next round decides who owns what
        }
    }

    /** Gives every member all that is subscribed to. */
    public static class Doubling extends RangeAssignor {
        @Override
        public GroupAssignment assign(Cluster cluster, GroupSubscription subscriptions) {
            java.util.ArrayList<TopicPartition> all = new java.util.ArrayList<>();
            Map<String, ConsumerPartitionAssignor.Assignment> doubled = new HashMap<>();
            super.assign(cluster, subscriptions).groupAssignment().values()
                .forEach(one -> all.addAll(one.partitions()));
            subscriptions.groupSubscription().keySet().forEach(
                    member -> doubled.put(member, new ConsumerPartitionAssignor.Assignment(all)));
            return new GroupAssignment(doubled);
        }
    }
}
