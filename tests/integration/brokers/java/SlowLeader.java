import java.io.IOException;
import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A consumer of Kafka's own client that takes its time to assign: it says so, and goes on when a line comes. */
public final class SlowLeader {
    public static final class Waiting extends RangeAssignor {
        @Override public GroupAssignment assign(Cluster metadata, GroupSubscription subscriptions) {
            System.out.println("assigning");
            try { while (System.in.read() != '\n') { } }
            catch (IOException e) { throw new IllegalStateException(e); }
            return super.assign(metadata, subscriptions);
        }
    }

    /** Arguments: bootstrap, group, topic. Ends when the assignment has come; prints what poll throws, and polls on. */
    public static void main(String[] arguments) {
        Map<String, Object> settings = Map.of(
            "bootstrap.servers", arguments[0], "group.id", arguments[1], "enable.auto.commit", false,
            "partition.assignment.strategy", List.of(Waiting.class));
        ByteArrayDeserializer bytes = new ByteArrayDeserializer();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings, bytes, bytes)) {
            consumer.subscribe(List.of(arguments[2]));
            while (consumer.assignment().isEmpty()) {
                try { consumer.poll(Duration.ofMillis(100)); }
                catch (RuntimeException e) { System.out.println("thrown " + e); }
            }
            System.out.println("assigned");
        }
    }
}
