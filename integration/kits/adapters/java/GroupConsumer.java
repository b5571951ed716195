import java.time.Duration;
import java.util.*;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Consumes a topic in a group until SIGTERM, and prints the partitions that it owns whenever they change. */
public final class GroupConsumer {
    public static void main(String[] args) {
        Map<String, String> given = new HashMap<>(Map.of(
                "assignor", "eager", "session-ms", "10000", "heartbeat-ms", "1000", "rebalance-ms", "10000"));
        for (int at = 0; at + 1 < args.length; at += 2) given.put(args[at].substring(2), args[at + 1]);
        KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(settings(given), new ByteArrayDeserializer(), new ByteArrayDeserializer());
        AtomicInteger exitCode = new AtomicInteger(1);
        Thread polling = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            consumer.wakeup();
            try { polling.join(); } catch (InterruptedException never) { Thread.currentThread().interrupt(); }
            Runtime.getRuntime().halt(exitCode.get()); // the JVM's own exit code after SIGTERM is 143
        }));
        try (consumer) {
            consumer.subscribe(List.of(given.get("topic")));
            for (Set<TopicPartition> shown = Set.of(); ; ) {
                consumer.poll(Duration.ofMillis(100));
                if (!shown.equals(consumer.assignment())) show(shown = Set.copyOf(consumer.assignment()));
            }
        } catch (WakeupException asked) {
            exitCode.set(0);
        }
    }

    private static Properties settings(Map<String, String> given) {
        String assignor = given.get("assignor").equals("cooperative") ? "CooperativeSticky" : "Range";
        Properties settings = new Properties();
        settings.putAll(Map.of("bootstrap.servers", given.get("bootstrap"), "group.id", given.get("group"),
                "group.protocol", "classic", "session.timeout.ms", given.get("session-ms"),
                "heartbeat.interval.ms", given.get("heartbeat-ms"), "max.poll.interval.ms", given.get("rebalance-ms"),
                "auto.commit.interval.ms", "1000", "auto.offset.reset", "earliest",
                "partition.assignment.strategy", "org.apache.kafka.clients.consumer." + assignor + "Assignor"));
        if (given.containsKey("instance")) settings.put("group.instance.id", given.get("instance"));
        return settings;
    }

    private static void show(Set<TopicPartition> owned) {
        System.out.println("owned " + owned.stream().map(Object::toString).sorted().collect(Collectors.joining(" ")));
    }
}
