package org.apache.kafka.coordinator.group;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.*;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.security.Security;
import java.util.*;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.network.*;
import org.apache.kafka.common.protocol.*;
import org.apache.kafka.common.requests.*;
import org.apache.kafka.common.security.auth.*;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.server.util.timer.TimerTask;
import rebalancecheck.Main;

/**
 * Kafka's coordinators in virtual time: a clock, nodes (0 coordinates at first), and requests that wait for an answer.
 *
 * <p>A line has a {@code node}, and a {@code frame} with its {@code number}, a group to {@code inspect}, or a {@code
 * control}. The answer has the {@code replies} to all requests that it completed, the {@code text} of a command, and
 * the exceptions that a coordinator has {@code thrown} outside of any request.
 */
public final class Environment implements Main.Run {
    private static final ListenerName LISTENER = new ListenerName("PLAINTEXT");
    private static final short DESCRIBE_VERSION = 5;

    private final VirtualTime time = new VirtualTime();
    private final String name;
    private final Map<String, Integer> topics = new TreeMap<>();
    private final Map<String, String> settings = new TreeMap<>();
    private final Map<Integer, Node> nodes = new TreeMap<>();
    private final TreeSet<Integer> pending = new TreeSet<>();
    private final ArrayDeque<byte[]> given = new ArrayDeque<>();
    private long random;
    /** The answer to the line at hand: events are written into it. */
    private ObjectNode result = Main.JSON.createObjectNode();

    static {
        Security.insertProviderAt(new SeededRandom(), 1);
    }

    /** Options: a {@code name} for metrics, the {@code seed}, {@code topics}, and a broker's {@code settings}. */
    public Environment(JsonNode options) {
        name = options.get("name").asText();
        random = options.get("seed").asLong();
        options.get("topics").fields().forEachRemaining(each -> topics.put(each.getKey(), each.getValue().asInt()));
        options.get("settings").fields()
            .forEachRemaining(each -> settings.put(each.getKey(), each.getValue().asText()));
        enter();
        start(0).elect(0);
        time.settle();
        random = SeededRandom.state;
    }

    private void enter() {
        SeededRandom.state = random;
        SeededRandom.given = given;
    }

    /** Do a line's command, and all that follows from it at that instant; random numbers are of this environment. */
    @Override public Object answer(JsonNode asked) {
        enter();
        result = Main.JSON.createObjectNode();
        try {
            int node = asked.path("node").asInt();
            if (asked.has("frame")) {
                request(node, asked.get("number").asInt(), ByteBuffer.wrap(asked.get("frame").binaryValue()));
            } else if (asked.has("inspect")) {
                inspect(node(node), asked.get("inspect").asText());
            } else if (asked.has("control")) {
                result.put("text", perform(node, asked.get("control").asText().split(" ")));
            }
        } catch (RuntimeException | IOException e) {
            result.put("refused", e.toString());
        }
        random = SeededRandom.state;
        if (!time.thrown.isEmpty()) {
            result.put("thrown", time.thrown);
            time.thrown = "";
        }
        return result;
    }

    private Node start(int id) {
        Node node = Release.start(name, id, time, settings);
        nodes.put(id, node);
        return node;
    }

    private Node node(int id) {
        Node node = nodes.get(id);
        if (node == null) throw new IllegalArgumentException("there is no node " + id);
        return node;
    }

    /** A request as it stands on the wire, from its header on. */
    private void request(int nodeId, int number, ByteBuffer bytes) throws IOException {
        Node node = nodes.get(nodeId);
        RequestContext context;
        AbstractRequest request;
        try {
            if (node == null || node.dead) throw new IllegalStateException("the node does not run");
            context = context(RequestHeader.parse(bytes));
            request = context.parseRequest(bytes).request;
        } catch (RuntimeException e) {
            reply(number, null);
            return;
        }
        pending.add(number);
        handled(node, context, request).whenComplete((response, error) -> {
            if (!node.dead) {
                pending.remove(number);
                AbstractResponse reply =
                    error == null ? response : request.getErrorResponse(0, Errors.maybeUnwrapException(error));
                reply(number, serialized(context.header, reply));
            }
        });
        time.settle();
    }

    /** The number of a request, and the bytes of its answer; null where the broker hangs up. */
    private void reply(int number, byte[] response) {
        result.withArray("replies").addArray().add(number).add(response);
    }

    private CompletableFuture<? extends AbstractResponse> handled(
        Node node, RequestContext context, AbstractRequest request) {
        try {
            return new Apis(node.service, topics, context).handle(request);
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** The group as DescribeGroups shows it, behind an insider's knowledge: generation and leader. */
    private void inspect(Node node, String group) throws IOException {
        ArrayNode inspected = result.putArray("inspected");
        node.inspect(group, inspected);
        if (inspected.isEmpty()) inspected.add(-1).add("");
        RequestContext context = context(new RequestHeader(ApiKeys.DESCRIBE_GROUPS, DESCRIBE_VERSION, "", 0));
        var described = new Apis(node.service, topics, context).describe(List.of(group));
        time.settle();
        if (!described.isDone()) throw new IllegalStateException("the coordinator does not answer DescribeGroups");
        inspected.add(serialized(context.header, described.join()));
    }

    private static RequestContext context(RequestHeader header) throws IOException {
        InetAddress loopback = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
        return new RequestContext(header, "connection", loopback, KafkaPrincipal.ANONYMOUS, LISTENER,
            SecurityProtocol.PLAINTEXT, ClientInformation.EMPTY, false);
    }

    private static byte[] serialized(RequestHeader header, AbstractResponse response) {
        var head = header.toResponseHeader();
        return Utils.toArray(
            RequestUtils.serialize(head.data(), head.headerVersion(), response.data(), header.apiVersion()));
    }

    /** Do the command in the words, at one node; the answer, empty where there is nothing to tell. */
    private String perform(int id, String[] words) {
        switch (words[0]) {
            case "give" -> given.add(HexFormat.of().parseHex(words[1]));
            case "advance" -> time.advance(Long.parseLong(words[1]));
            case "session" -> fire(node(id), GroupMetadataManager.classicGroupHeartbeatKey(words[1], words[2]));
            case "join" -> fire(node(id), GroupMetadataManager.classicGroupJoinKey(words[1]));
            case "sync" -> fire(node(id), GroupMetadataManager.classicGroupSyncKey(words[1]));
            case "acknowledge" -> node(id).acknowledge(words[1].equals("on"));
            case "fail" -> node(id).failure = words.length > 1 ? Errors.valueOf(words[1]) : null;
            case "commit" -> node(id).highWatermark(Long.parseLong(words[1]));
            case "crash" -> node(id).crash();
            case "resign" -> node(id).resign(Integer.parseInt(words[1]));
            case "elect" -> node(id).elect(Integer.parseInt(words[1]));
            case "replica" -> start(id).journal = node(Integer.parseInt(words[1])).journal
                .replica(Long.parseLong(words[2]), words[3].equals("unclean"));
            case "hold-load" -> node(id).holdingLoad = true;
            case "release-load" -> node(id).releaseLoad();
            default -> { return query(node(id), words); }
        }
        time.settle();
        return "";
    }

    private String query(Node node, String[] words) {
        return switch (words[0]) {
            case "deadline" -> time.nextDeadlineMs() < 0
                ? "" : String.valueOf(time.nextDeadlineMs() - VirtualTime.START_MS);
            case "pending" -> String.join(" ", pending.stream().map(String::valueOf).toList());
            case "journal" -> node.journal.text();
            case "end-transaction" -> endTransaction(node, Long.parseLong(words[1]), words[2].toUpperCase());
            default -> throw new IllegalArgumentException("unknown command " + words[0]);
        };
    }

    /** The name of the error that the marker was answered with; empty while the log withholds the outcome. */
    private String endTransaction(Node node, long producer, String result) {
        CompletableFuture<Void> ended = node.endTransaction(producer, TransactionResult.valueOf(result));
        time.settle();
        return !ended.isDone() ? "" : ended.handle((nothing, error) ->
            error == null ? Errors.NONE : Errors.forException(Errors.maybeUnwrapException(error))).join().name();
    }

    private void fire(Node node, String key) {
        TimerTask task = node.runningTimers().get(key);
        if (task == null) throw new IllegalArgumentException("no timer " + key + " runs");
        time.fire(task);
    }
}
