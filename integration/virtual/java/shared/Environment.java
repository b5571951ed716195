package rebalancecheck;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.network.ClientInformation;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.requests.RequestUtils;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.coordinator.group.KafkaNode;

/** One run: a clock, its nodes (0 coordinates at first), and the requests that wait for an answer. */
final class Environment {
    private static final InetAddress LOOPBACK = loopback();
    private static final ListenerName LISTENER = new ListenerName("PLAINTEXT");
    private static final short DESCRIBE_VERSION = 5;

    /** How a run is set up: the seed of member ids, topics with their number of partitions, a broker's settings. */
    record Settings(long seed, Map<String, Integer> topics, Map<String, String> broker) { }

    final VirtualTime time = new VirtualTime();
    private final int number;
    private final Settings settings;
    private final Output output;
    private final Map<Integer, Node> nodes = new TreeMap<>();
    private final TreeSet<Integer> pending = new TreeSet<>();
    private final ArrayDeque<byte[]> given = new ArrayDeque<>();
    private long random;
    private boolean over;

    Environment(int number, Settings settings, Output output) {
        this.number = number;
        this.settings = settings;
        this.output = output;
        this.random = settings.seed();
    }

    /** Run something as this environment: random numbers are its own. */
    void enter(Runnable work) {
        SeededRandom.state = random;
        SeededRandom.given = given;
        try {
            work.run();
        } finally {
            random = SeededRandom.state;
        }
    }

    /** The next member id is made of these random bytes. */
    void give(String hexadecimal) {
        given.add(HexFormat.of().parseHex(hexadecimal));
    }

    Node start(int id) {
        Node node = KafkaNode.start(number, id, time, settings.broker());
        nodes.put(id, node);
        if (!settings.topics().isEmpty()) {
            node.announce(settings.topics());
        }
        return node;
    }

    Node node(int id) {
        Node node = nodes.get(id);
        if (node == null) {
            throw new IllegalArgumentException("there is no node " + id);
        }
        return node;
    }

    /** Nothing of this environment is sent any more. */
    void end() {
        over = true;
        nodes.values().forEach(Node::crash);
    }

    void endMarker(int frame) {
        output.end(frame, time.milliseconds(), time.nextDeadlineMs(), pending.size());
    }

    String pending() {
        return String.join(" ", pending.stream().map(String::valueOf).toList());
    }

    // ------------------------------------------------------------------------------------------------ requests

    /** A request as it stands on the wire, from its header on. */
    void request(int nodeId, int frame, ByteBuffer bytes) {
        Node node = nodes.get(nodeId);
        if (node == null || node.isDead()) {
            output.frame(Output.CLOSED, frame, "node " + nodeId + " does not run");
            return;
        }
        RequestContext context;
        AbstractRequest request;
        try {
            context = context(RequestHeader.parse(bytes));
            request = context.parseRequest(bytes).request;
        } catch (RuntimeException e) {
            output.frame(Output.CLOSED, frame, e.toString());
            return;
        }
        answerWhenDone(node, frame, context, request, handled(node, context, request));
        time.settle();
    }

    private CompletableFuture<? extends AbstractResponse> handled(
        Node node, RequestContext context, AbstractRequest request) {
        try {
            return Apis.handle(node, settings.topics(), context, request);
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private void answerWhenDone(Node node, int frame, RequestContext context, AbstractRequest request,
                                CompletableFuture<? extends AbstractResponse> answer) {
        pending.add(frame);
        answer.whenComplete((response, error) -> {
            if (over || node.isDead()) {
                return;
            }
            pending.remove(frame);
            AbstractResponse reply =
                error == null ? response : request.getErrorResponse(0, Errors.maybeUnwrapException(error));
            output.frame(Output.REPLY, frame, serialized(context.header, reply));
        });
    }

    /** The group as DescribeGroups shows it, behind what only an insider knows: generation and leader. */
    void inspect(int nodeId, int frame, String group) {
        Node node = node(nodeId);
        Node.Inside inside = node.inspect(group);
        RequestContext context = context(new RequestHeader(ApiKeys.DESCRIBE_GROUPS, DESCRIBE_VERSION, "", 0));
        CompletableFuture<? extends AbstractResponse> described = Apis.describe(node.service, context, List.of(group));
        time.settle();
        if (!described.isDone()) {
            throw new IllegalStateException("the coordinator does not answer DescribeGroups");
        }
        ByteBuffer response = serialized(context.header, described.join());
        byte[] leader = (inside == null ? "" : inside.leader()).getBytes(StandardCharsets.UTF_8);
        ByteBuffer body = ByteBuffer.allocate(Integer.BYTES + Short.BYTES + leader.length + response.remaining());
        body.putInt(inside == null ? -1 : inside.generation()).putShort((short) leader.length).put(leader);
        output.frame(Output.INSPECTED, frame, body.put(response).flip());
    }

    private static RequestContext context(RequestHeader header) {
        return new RequestContext(header, "connection", LOOPBACK, KafkaPrincipal.ANONYMOUS, LISTENER,
            SecurityProtocol.PLAINTEXT, ClientInformation.EMPTY, false);
    }

    private static ByteBuffer serialized(RequestHeader header, AbstractResponse response) {
        var head = header.toResponseHeader();
        return RequestUtils.serialize(head.data(), head.headerVersion(), response.data(), header.apiVersion());
    }

    private static InetAddress loopback() {
        try {
            return InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }
}
