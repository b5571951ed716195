package rebalancecheck.recorder;

import static rebalancecheck.recorder.MemberRecorder.*;

import java.io.IOException;
import java.util.*;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.utils.AppInfoParser;

/**
 * Records a consumer into a history file. Name it in {@code interceptor.classes}, and set in the consumer's properties
 *
 * <ul>
 *   <li>{@value #HISTORY}: the file of this consumer, such as {@code /var/log/orders-{client.id}.jsonl};
 *   <li>{@value #MEMBER}: the name of the process in its group, such as {@code host7-{client.id}}. A process that is
 *       started again keeps it, and no two of the group have the same.
 * </ul>
 *
 * <p>{@code {client.id}} stands for the client id, which is another for each consumer of a process. Alone, it sees the
 * start of the consumer, the commits that succeed, and the end. With a {@link RecordingRebalanceListener} the history
 * has the rebalances, too.
 */
public class RecordingInterceptor<K, V> implements ConsumerInterceptor<K, V> {
    public static final String HISTORY = "rebalance.check.history";
    public static final String MEMBER = "rebalance.check.member";

    private static final String ASSIGNORS = "org.apache.kafka.clients.consumer.";
    private static final List<String> EAGER = Arrays.asList("range", "roundrobin", "sticky");
    private static final String COOPERATIVE = "cooperative-sticky";
    private static final Map<String, MemberRecorder> BY_CLIENT_ID = new ConcurrentHashMap<>();

    private MemberRecorder recorder;
    private String clientId;

    /** The recorder of the consumer with this client id; null where none is recorded. */
    static MemberRecorder of(String clientId) { return BY_CLIENT_ID.get(clientId); }

    @Override public void configure(Map<String, ?> configs) {
        clientId = required(configs, "client.id");
        String group = required(configs, "group.id");
        String member = required(configs, MEMBER).replace("{client.id}", clientId);
        if ("consumer".equalsIgnoreCase(setting(configs, "group.protocol"))) {
            throw new ConfigException("groups of the new consumer protocol (KIP-848) have no generations to record");
        }
        try {
            String path = required(configs, HISTORY).replace("{client.id}", clientId);
            recorder = new MemberRecorder(path, group, member);
        } catch (IOException fault) {
            throw new ConfigException(HISTORY + ": " + fault.getMessage());
        }
        BY_CLIENT_ID.put(clientId, recorder);
        List<String> assignors = assignors(configs);
        String instance = setting(configs, "group.instance.id");
        recorder.emit("MemberStarted", text("protocol", protocol(assignors, instance)) + text("client", "java")
                + text("group_instance_id", instance) + text("release", AppInfoParser.getVersion())
                + texts("assignors", assignors)
                + number("rebalance_timeout_ms", milliseconds(configs, "max.poll.interval.ms"))
                + number("session_timeout_ms", milliseconds(configs, "session.timeout.ms")));
    }

    @Override public ConsumerRecords<K, V> onConsume(ConsumerRecords<K, V> records) { return records; }

    /** Commits that succeeded, those of the consumer itself included; in which generation, nothing says. */
    @Override public void onCommit(Map<TopicPartition, OffsetAndMetadata> offsets) {
        offsets.forEach((partition, committed) -> recorder.emit("OffsetCommitted", number("generation", -1)
                + text("partition", partition.toString()) + number("offset", committed.offset())
                + text("error", "NONE")));
    }

    /** The consumer is closed: it has left its group, or its instance id stays there without it. */
    @Override public void close() {
        if (recorder != null && BY_CLIENT_ID.remove(clientId, recorder)) {
            recorder.emit("MemberLeft", "");
            recorder.close();
        }
    }

    private static String required(Map<String, ?> configs, String name) {
        String value = setting(configs, name);
        if (value.isEmpty()) throw new ConfigException("the consumer is recorded, and " + name + " is not set");
        return value;
    }

    private static String setting(Map<String, ?> configs, String name) {
        Object value = configs.get(name);
        return value == null ? "" : value.toString();
    }

    /** A time that was set; 0 (unknown) where the consumer has its default. */
    private static long milliseconds(Map<String, ?> configs, String name) {
        String value = setting(configs, name).trim();
        return value.isEmpty() ? 0 : Long.parseLong(value);
    }

    /** The names of the assignors that were set, most wanted first; of one's own the class; empty for the default. */
    private static List<String> assignors(Map<String, ?> configs) {
        Object set = configs.get("partition.assignment.strategy");
        if (set == null) return Collections.emptyList();
        List<String> names = new ArrayList<>();
        for (Object one : set instanceof List ? (List<?>) set : Arrays.asList(set.toString().split(","))) {
            String name = one instanceof Class ? ((Class<?>) one).getName() : one.toString().trim();
            names.add(name.startsWith(ASSIGNORS) ? known(name.substring(ASSIGNORS.length())) : name);
        }
        return names;
    }

    private static String known(String name) {
        return name.replace("RoundRobin", "Roundrobin").replaceAll("Assignor$", "")
                .replaceAll("(?<=[a-z])(?=[A-Z])", "-").toLowerCase(java.util.Locale.ROOT);
    }

    /**
     * A consumer is cooperative if all its assignors are, and eager by default; unknown with an assignor of one's own.
     * A static member that unsubscribes keeps its membership, and its listener does not see why it gives everything up:
     * so that it is not held to keep it, it does not say that it is cooperative.
     */
    private static String protocol(List<String> assignors, String instance) {
        if (assignors.isEmpty()) return "eager";
        for (String one : assignors) if (EAGER.contains(one)) return "eager";
        for (String one : assignors) if (!one.equals(COOPERATIVE)) return "";
        return instance.isEmpty() ? "cooperative" : "";
    }
}
