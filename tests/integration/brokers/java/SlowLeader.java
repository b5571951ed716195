import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A consumer of Kafka's own client that takes its time to assign: it says so, and goes on when a line comes. */
public final class SlowLeader {
    public static final class Waiting extends RangeAssignor {
        @Override
        public GroupAssignment assign(Cluster metadata, GroupSubscription subscriptions) {
            say("assigning");
            try {
                while (System.in.read() != '\n') { }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
            return super.assign(metadata, subscriptions);
        }
    }

    /**
     * Arguments: bootstrap, group, topic. Ends when the assignment has come; what poll throws is printed, and polled
     * on.
     */
    public static void main(String[] arguments) {
        Map<String, Object> settings = Map.of(
            "bootstrap.servers", arguments[0], "group.id", arguments[1], "enable.auto.commit", false,
            "partition.assignment.strategy", List.of(Waiting.class));
        ByteArrayDeserializer bytes = new ByteArrayDeserializer();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings, bytes, bytes)) {
            consumer.subscribe(List.of(arguments[2]));
            while (consumer.assignment().isEmpty()) {
                try {
                    consumer.poll(Duration.ofMillis(100));
                } catch (RuntimeException e) {
                    say("thrown " + e);
                }
            }
            say("assigned");
        }
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
