package rebalancecheck;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.nio.ByteBuffer;
import java.util.*;
import java.util.concurrent.*;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.*;
import org.apache.kafka.common.*;

/**
 * Answers an assignment problem as Kafka's own assignors do; `messages.py` is the other side. Written against the
 * oldest release; later parameters of Subscription's constructor are found by reflection, and left out where
 * the release has no such thing.
 */
public final class Assignors implements Main.Run {
    private static final int LONGEST_MESSAGE = 2000;
    private static final Node SOMEWHERE = new Node(0, "localhost", 9092);

    private final long patienceMs;
    private ExecutorService worker = newWorker();

    public Assignors(JsonNode options) { patienceMs = options.get("patience_ms").asLong(); }

    @Override public Object answer(JsonNode problem) throws Exception {
        if (problem.has("open")) return Map.of();
        String name = "org.apache.kafka.clients.consumer." + problem.get("assignor").asText();
        ConsumerPartitionAssignor assignor =
            (ConsumerPartitionAssignor) Class.forName(name).getConstructor().newInstance();
        Cluster cluster = cluster(problem.get("topics"));
        // The members in the order given: the leader's own map is in hash order, so each order can occur.
        Map<String, Subscription> members = new LinkedHashMap<>();
        for (JsonNode member : problem.get("members")) members.put(member.get("id").asText(), subscription(member));
        Future<Map<String, Assignment>> result =
            worker.submit(() -> assignor.assign(cluster, new GroupSubscription(members)).groupAssignment());
        try {
            return Map.of("assigned", assigned(result.get(patienceMs, TimeUnit.MILLISECONDS)));
        } catch (ExecutionException threw) {
            return failure(threw.getCause());
        } catch (TimeoutException late) {
            worker = newWorker(); // the other one is a daemon, and busy for ever
            return Map.of("failure", "no answer within " + patienceMs + " ms");
        }
    }

    static Map<String, String> failure(Throwable thrown) {
        String message = String.valueOf(thrown);
        return Map.of("failure", message.substring(0, Math.min(message.length(), LONGEST_MESSAGE)));
    }

    /** For each topic its partitions: the racks of their replicas. */
    private static Cluster cluster(JsonNode topics) {
        Map<String, Node> racks = new LinkedHashMap<>();
        List<PartitionInfo> partitions = new ArrayList<>();
        topics.fields().forEachRemaining(topic -> {
            for (int number = 0; number < topic.getValue().size(); number++) {
                List<Node> replicas = new ArrayList<>();
                topic.getValue().get(number).forEach(rack -> replicas.add(racks.computeIfAbsent(
                    rack.asText(), each -> new Node(racks.size() + 1, "localhost", 9092, each))));
                if (replicas.isEmpty()) replicas.add(SOMEWHERE);
                Node[] all = replicas.toArray(new Node[0]);
                partitions.add(new PartitionInfo(topic.getKey(), number, all[0], all, all));
            }
        });
        List<Node> nodes = new ArrayList<>(racks.values());
        nodes.add(SOMEWHERE);
        return new Cluster("cluster", nodes, partitions, Set.of(), Set.of());
    }

    private static Subscription subscription(JsonNode member) throws ReflectiveOperationException, IOException {
        List<String> topics = new ArrayList<>();
        member.get("topics").forEach(topic -> topics.add(topic.asText()));
        List<TopicPartition> owned = new ArrayList<>();
        member.get("owned").forEach(each -> owned.add(new TopicPartition(each.get(0).asText(), each.get(1).asInt())));
        byte[] data = member.get("user_data").binaryValue();
        // (topics, userData, owned) since 2.4, and then (generation, rack); the longest constructor takes all there is.
        Constructor<?> longest = Arrays.stream(Subscription.class.getConstructors())
            .max(Comparator.comparing(Constructor::getParameterCount)).get();
        Object[] values = {topics, data == null ? null : ByteBuffer.wrap(data), owned,
            member.get("generation").asInt(), optional(member.get("rack"))};
        Subscription made = (Subscription) longest.newInstance(Arrays.copyOf(values, longest.getParameterCount()));
        made.setGroupInstanceId(optional(member.get("instance")));
        return made;
    }

    private static Optional<String> optional(JsonNode text) {
        return text.isNull() ? Optional.empty() : Optional.of(text.asText());
    }

    private static Map<String, List<List<Object>>> assigned(Map<String, Assignment> assignments) {
        Map<String, List<List<Object>>> shown = new TreeMap<>();
        assignments.forEach((member, assignment) -> shown.put(member, assignment.partitions().stream()
            .map(each -> List.<Object>of(each.topic(), each.partition())).toList()));
        return shown;
    }

    private static ExecutorService newWorker() {
        return Executors.newSingleThreadExecutor(work -> {
            Thread thread = new Thread(work, "assignor");
            thread.setDaemon(true);
            return thread;
        });
    }
}
