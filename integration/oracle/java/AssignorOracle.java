import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/**
 * Reads assignment problems from standard input and writes what Kafka's own assignors answer to standard output.
 *
 * Numbers are big-endian, strings as DataInput.readUTF has them; `frames.py` is the other side and describes the order.
 * Answers are flushed when no further problem is waiting. Written against the oldest release; what later ones added to
 * the constructor of Subscription is found by reflection, and left out where the release has no such thing.
 */
public final class AssignorOracle {
    private static final int ANSWERED = 0;
    private static final int THREW = 1;
    private static final int HANGS = 2;
    private static final int LONGEST_MESSAGE = 2000;
    private static final String PACKAGE = "org.apache.kafka.clients.consumer.";
    private static final Node SOMEWHERE = new Node(0, "localhost", 9092);

    private final DataInputStream in;
    private final DataOutputStream out;
    private final long patienceMs;
    private ExecutorService worker = newWorker();

    private AssignorOracle(InputStream in, DataOutputStream out, long patienceMs) {
        this.in = new DataInputStream(in);
        this.out = out;
        this.patienceMs = patienceMs;
    }

    public static void main(String[] arguments) throws Exception {
        InputStream in = new BufferedInputStream(new FileInputStream(FileDescriptor.in), 1 << 16);
        DataOutputStream out =
            new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16));
        new AssignorOracle(in, out, Long.parseLong(arguments[0])).serve(in);
        System.exit(0);
    }

    private void serve(InputStream raw) throws Exception {
        int first;
        while ((first = in.read()) >= 0) {
            String name = readName(first);
            Cluster cluster = readCluster();
            GroupSubscription group = new GroupSubscription(readMembers());
            answer(name, cluster, group);
            if (raw.available() == 0) {
                out.flush();
            }
        }
        out.flush();
    }

    /** The class of the assignor; its first byte has been read, to see whether there is one. */
    private String readName(int first) throws IOException {
        byte[] name = new byte[first];
        in.readFully(name);
        return new String(name, "UTF-8");
    }

    /** A topic, its partitions, and for each the racks of its replicas. */
    private Cluster readCluster() throws IOException {
        Map<String, Node> racks = new LinkedHashMap<>();
        List<PartitionInfo> partitions = new ArrayList<>();
        for (int topics = in.readUnsignedShort(); topics > 0; topics--) {
            String topic = in.readUTF();
            int count = in.readInt();
            for (int number = 0; number < count; number++) {
                Node[] replicas = readReplicas(racks);
                partitions.add(new PartitionInfo(topic, number, replicas[0], replicas, replicas));
            }
        }
        List<Node> nodes = new ArrayList<>(racks.values());
        nodes.add(SOMEWHERE);
        return new Cluster("cluster", nodes, partitions, Collections.emptySet(), Collections.emptySet());
    }

    private Node[] readReplicas(Map<String, Node> racks) throws IOException {
        Node[] replicas = new Node[in.readUnsignedByte()];
        for (int i = 0; i < replicas.length; i++) {
            String rack = in.readUTF();
            replicas[i] = racks.computeIfAbsent(rack, r -> new Node(racks.size() + 1, "localhost", 9092, r));
        }
        return replicas.length == 0 ? new Node[] {SOMEWHERE} : replicas;
    }

    /** The members in the order given: the leader's own map is in hash order, so each order can occur. */
    private Map<String, Subscription> readMembers() throws Exception {
        Map<String, Subscription> members = new LinkedHashMap<>();
        for (int left = in.readUnsignedShort(); left > 0; left--) {
            String id = in.readUTF();
            members.put(id, readSubscription());
        }
        return members;
    }

    private Subscription readSubscription() throws Exception {
        List<String> topics = new ArrayList<>();
        for (int left = in.readUnsignedShort(); left > 0; left--) {
            topics.add(in.readUTF());
        }
        ByteBuffer userData = readBytes();
        List<TopicPartition> owned = new ArrayList<>();
        for (int left = in.readUnsignedShort(); left > 0; left--) {
            String topic = in.readUTF();
            owned.add(new TopicPartition(topic, in.readInt()));
        }
        int generation = in.readInt();
        Optional<String> instance = readOptional();
        Subscription subscription = newSubscription(topics, userData, owned, generation, readOptional());
        subscription.setGroupInstanceId(instance);
        return subscription;
    }

    private ByteBuffer readBytes() throws IOException {
        int length = in.readInt();
        if (length < 0) {
            return null;
        }
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return ByteBuffer.wrap(bytes);
    }

    private Optional<String> readOptional() throws IOException {
        return in.readBoolean() ? Optional.of(in.readUTF()) : Optional.empty();
    }

    /** (topics, userData, owned) since 2.4, and then (generation, rack); the longest constructor takes all there is. */
    private static Subscription newSubscription(Object... values) throws Exception {
        Constructor<?> longest = Arrays.stream(Subscription.class.getConstructors())
            .max((one, other) -> one.getParameterCount() - other.getParameterCount()).get();
        return (Subscription) longest.newInstance(Arrays.copyOf(values, longest.getParameterCount()));
    }

    private void answer(String name, Cluster cluster, GroupSubscription group) throws Exception {
        ConsumerPartitionAssignor assignor =
            (ConsumerPartitionAssignor) Class.forName(PACKAGE + name).getConstructor().newInstance();
        Future<Map<String, Assignment>> result =
            worker.submit(() -> assignor.assign(cluster, group).groupAssignment());
        try {
            writeAssignments(result.get(patienceMs, TimeUnit.MILLISECONDS));
        } catch (ExecutionException threw) {
            writeFailure(THREW, String.valueOf(threw.getCause()));
        } catch (TimeoutException late) {
            writeFailure(HANGS, "no answer within " + patienceMs + " ms");
            worker = newWorker(); // the other one is a daemon, and busy for ever
        }
    }

    private void writeAssignments(Map<String, Assignment> assignments) throws IOException {
        out.writeByte(ANSWERED);
        out.writeShort(assignments.size());
        for (Map.Entry<String, Assignment> entry : new TreeMap<>(assignments).entrySet()) {
            List<TopicPartition> partitions = entry.getValue().partitions();
            out.writeUTF(entry.getKey());
            out.writeShort(partitions.size());
            for (TopicPartition partition : partitions) {
                out.writeUTF(partition.topic());
                out.writeInt(partition.partition());
            }
        }
    }

    private void writeFailure(int kind, String message) throws IOException {
        out.writeByte(kind);
        out.writeUTF(message.substring(0, Math.min(message.length(), LONGEST_MESSAGE)));
    }

    private static ExecutorService newWorker() {
        return Executors.newSingleThreadExecutor(work -> {
            Thread thread = new Thread(work, "assignor");
            thread.setDaemon(true);
            return thread;
        });
    }
}
