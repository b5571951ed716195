package org.apache.kafka.connect.runtime.distributed;

import com.fasterxml.jackson.databind.node.ArrayNode;
import java.nio.ByteBuffer;
import java.util.*;
import org.apache.kafka.clients.*;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.message.*;
import org.apache.kafka.common.message.FindCoordinatorResponseData.Coordinator;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponseBroker;
import org.apache.kafka.common.protocol.*;
import org.apache.kafka.common.requests.*;
import org.apache.kafka.common.utils.Utils;
import rebalancecheck.Inside;

/** A KafkaClient whose requests stay here until the driver answers them. It finds the coordinator by itself. */
final class StubClient implements Inside.Stub {
    private static final Node NODE = new Node(0, "broker", 9092);
    private static final int REQUEST_TIMEOUT_MS = 30_000;

    /** A request without an answer. */
    record Flight(ClientRequest sent, RequestHeader header, AbstractRequest request, long atMs) { }

    private final Map<Integer, Flight> flights = new LinkedHashMap<>();
    /** Those since the driver looked last. */
    private final List<Flight> sent = new ArrayList<>();
    boolean reachable = true;
    private boolean woken;
    private final StepTime time;
    private final Metadata metadata;
    private final ArrayDeque<ClientResponse> arrived = new ArrayDeque<>();
    private final String clientId;
    private int correlation;

    StubClient(StepTime time, Metadata metadata, String clientId) {
        this.clientId = clientId;
        this.time = time;
        this.metadata = metadata;
    }

    boolean hasArrived() { return !arrived.isEmpty(); }

    /** The bytes of a response came, from its header on; those to a request that is given up are not read. */
    ApiKeys reply(int correlation, byte[] frame) {
        Flight asked = flights.remove(correlation);
        if (asked == null) return null;
        arrive(asked, AbstractResponse.parseResponse(ByteBuffer.wrap(frame), asked.header));
        return asked.header.apiKey();
    }

    /** The requests since the last call, as they stand behind their length on a wire, and which are not answered. */
    void takeSent(ArrayNode frames, ArrayNode inFlight) {
        sent.forEach(flight -> frames.addArray().add(flight.header.correlationId())
            .add(HexFormat.of().formatHex(Utils.toArray(flight.request.serializeWithHeader(flight.header)))));
        sent.clear();
        flights.keySet().forEach(inFlight::add);
    }

    /** The connection broke. */
    Object disconnect() {
        List<Flight> lost = new ArrayList<>(flights.values());
        flights.clear();
        lost.forEach(flight -> arrive(flight, null));
        return null;
    }

    private void arrive(Flight flight, AbstractResponse response) {
        arrived.add(new ClientResponse(flight.header, flight.sent.callback(), flight.sent.destination(), flight.atMs,
            time.nowMs, response == null, null, null, response));
    }

    @Override public Object called(String method, Object[] args) {
        return switch (method) {
            case "isReady", "ready", "hasReadyNodes", "active" -> true;
            case "connectionDelay", "pollDelayMs" -> 0L;
            case "connectionFailed" -> false;
            case "send" -> send((ClientRequest) args[0], (long) args[1]);
            case "poll" -> poll((long) args[0]);
            case "wakeup" -> woken = true;
            case "disconnect", "close" -> disconnect();
            case "leastLoadedNode" -> new LeastLoadedNode(NODE, true);
            case "inFlightRequestCount" -> flights.size();
            case "hasInFlightRequests" -> !flights.isEmpty();
            case "newClientRequest" -> newRequest(args);
            default -> null;
        };
    }

    private ClientRequest newRequest(Object[] args) {
        boolean complete = args.length > 4;
        return new ClientRequest((String) args[0], (AbstractRequest.Builder<?>) args[1], correlation++, clientId,
            (long) args[2], (boolean) args[3], complete ? (int) args[4] : REQUEST_TIMEOUT_MS,
            complete ? (RequestCompletionHandler) args[5] : null);
    }

    private Object send(ClientRequest request, long nowMs) {
        short version = request.requestBuilder().latestAllowedVersion();
        AbstractRequest built = request.requestBuilder().build(version);
        Flight flight = new Flight(request, request.makeHeader(version), built, nowMs);
        if (request.apiKey() == ApiKeys.FIND_COORDINATOR) {
            arrive(flight, found());
        } else {
            flights.put(flight.header.correlationId(), flight);
            sent.add(flight);
        }
        return null;
    }

    private FindCoordinatorResponse found() {
        Errors error = reachable ? Errors.NONE : Errors.COORDINATOR_NOT_AVAILABLE;
        return new FindCoordinatorResponse(new FindCoordinatorResponseData().setCoordinators(List.of(new Coordinator()
            .setKey("g").setNodeId(0).setHost("broker").setPort(9092).setErrorCode(error.code()).setErrorMessage(""))));
    }

    private List<ClientResponse> poll(long timeoutMs) {
        if (metadata.timeToNextUpdate(time.nowMs) == 0) {
            MetadataResponseData data = new MetadataResponseData().setClusterId("c").setControllerId(0);
            data.brokers().add(new MetadataResponseBroker().setNodeId(0).setHost("broker").setPort(9092));
            short version = ApiKeys.METADATA.latestVersion();
            metadata.updateWithCurrentRequestVersion(new MetadataResponse(data, version), false, time.nowMs);
        }
        HerderThread herder = HerderThread.current();
        if (arrived.isEmpty() && timeoutMs > 0 && herder != null && !woken) {
            long untilMs = timeoutMs > Long.MAX_VALUE - time.nowMs ? Long.MAX_VALUE : time.nowMs + timeoutMs;
            herder.park(untilMs, true);
        }
        if (herder != null) woken = false;
        List<ClientResponse> read = arrived.isEmpty() ? Collections.emptyList() : new ArrayList<>(arrived);
        arrived.clear();
        read.forEach(ClientResponse::onComplete);
        return read;
    }
}
