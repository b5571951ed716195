package rebalancecheck.worker;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import org.apache.kafka.clients.ClientRequest;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.clients.LeastLoadedNode;
import org.apache.kafka.clients.Metadata;
import org.apache.kafka.clients.RequestCompletionHandler;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.message.FindCoordinatorResponseData;
import org.apache.kafka.common.message.FindCoordinatorResponseData.Coordinator;
import org.apache.kafka.common.message.MetadataResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.FindCoordinatorResponse;
import org.apache.kafka.common.requests.MetadataResponse;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.utils.Utils;

/** A KafkaClient whose requests stay here until the driver answers them. It finds the coordinator by itself. */
final class StubClient implements InvocationHandler {
    private static final Node NODE = new Node(0, "broker", 9092);
    private static final int REQUEST_TIMEOUT_MS = 30_000;

    /** A request without an answer. */
    record Flight(ClientRequest sent, RequestHeader header, AbstractRequest request, long atMs) {
    }

    final List<Flight> flights = new ArrayList<>();
    /** Requests since the driver looked last. */
    final List<AbstractRequest> sent = new ArrayList<>();
    private final List<Flight> frames = new ArrayList<>();
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

    boolean hasArrived() {
        return !arrived.isEmpty();
    }

    /** The oldest unanswered request of an API gets this answer. */
    void answer(ApiKeys api, AbstractResponse response) {
        Flight flight = flights.stream().filter(each -> each.header.apiKey() == api).findFirst().orElseThrow();
        flights.remove(flight);
        arrive(flight, response);
    }

    /** The requests since the last call, as they stand behind their length on a wire, by correlation id. */
    void takeFrames(ArrayNode into) {
        frames.forEach(flight -> into.addArray().add(flight.header.correlationId())
            .add(HexFormat.of().formatHex(Utils.toArray(flight.request.serializeWithHeader(flight.header)))));
        frames.clear();
    }

    /** The bytes of a response came, from its header on; those to a request that is given up are not read. */
    ApiKeys reply(JsonNode step) {
        int number = step.get("correlation").asInt();
        for (Flight flight : flights) {
            if (flight.header.correlationId() == number) {
                flights.remove(flight);
                ByteBuffer bytes = ByteBuffer.wrap(HexFormat.of().parseHex(step.get("frame").asText()));
                arrive(flight, AbstractResponse.parseResponse(bytes, flight.header));
                return flight.header.apiKey();
            }
        }
        return null;
    }

    /** The connection broke. */
    void disconnect() {
        List<Flight> lost = new ArrayList<>(flights);
        flights.clear();
        lost.forEach(flight -> arrive(flight, null));
    }

    private void arrive(Flight flight, AbstractResponse response) {
        arrived.add(new ClientResponse(flight.header, flight.sent.callback(), flight.sent.destination(), flight.atMs,
            time.nowMs, response == null, null, null, response));
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] args) {
        switch (method.getName()) {
            case "isReady", "ready", "hasReadyNodes", "active":
                return true;
            case "connectionDelay", "pollDelayMs":
                return 0L;
            case "connectionFailed":
                return false;
            case "send":
                send((ClientRequest) args[0], (long) args[1]);
                return null;
            case "poll":
                return poll((long) args[0]);
            case "wakeup":
                woken = true;
                return null;
            case "disconnect", "close":
                disconnect();
                return null;
            case "leastLoadedNode":
                return new LeastLoadedNode(NODE, true);
            case "inFlightRequestCount":
                return flights.size();
            case "hasInFlightRequests":
                return !flights.isEmpty();
            case "newClientRequest":
                return newRequest(args);
            default:
                return null;
        }
    }

    private ClientRequest newRequest(Object[] args) {
        boolean complete = args.length > 4;
        return new ClientRequest((String) args[0], (AbstractRequest.Builder<?>) args[1], correlation++, clientId,
            (long) args[2], (boolean) args[3], complete ? (int) args[4] : REQUEST_TIMEOUT_MS,
            complete ? (RequestCompletionHandler) args[5] : null);
    }

    private void send(ClientRequest request, long nowMs) {
        short version = request.requestBuilder().latestAllowedVersion();
        AbstractRequest built = request.requestBuilder().build(version);
        Flight flight = new Flight(request, request.makeHeader(version), built, nowMs);
        if (request.apiKey() == ApiKeys.FIND_COORDINATOR) {
            arrive(flight, found());
        } else {
            flights.add(flight);
            sent.add(built);
            frames.add(flight);
        }
    }

    private FindCoordinatorResponse found() {
        Errors error = reachable ? Errors.NONE : Errors.COORDINATOR_NOT_AVAILABLE;
        return new FindCoordinatorResponse(new FindCoordinatorResponseData().setCoordinators(List.of(new Coordinator()
            .setKey("g").setNodeId(0).setHost("broker").setPort(9092).setErrorCode(error.code()).setErrorMessage(""))));
    }

    private List<ClientResponse> poll(long timeoutMs) {
        if (metadata.timeToNextUpdate(time.nowMs) == 0) {
            MetadataResponseData data = new MetadataResponseData().setClusterId("c").setControllerId(0);
            data.brokers().add(
                new MetadataResponseData.MetadataResponseBroker().setNodeId(0).setHost("broker").setPort(9092));
            short version = ApiKeys.METADATA.latestVersion();
            metadata.updateWithCurrentRequestVersion(new MetadataResponse(data, version), false, time.nowMs);
        }
        HerderThread herder = HerderThread.current();
        if (arrived.isEmpty() && timeoutMs > 0 && herder != null && !woken) {
            long untilMs = timeoutMs > Long.MAX_VALUE - time.nowMs ? Long.MAX_VALUE : time.nowMs + timeoutMs;
            herder.park(untilMs, true);
        }
        if (herder != null) {
            woken = false;
        }
        List<ClientResponse> read = arrived.isEmpty() ? Collections.emptyList() : new ArrayList<>(arrived);
        arrived.clear();
        read.forEach(ClientResponse::onComplete);
        return read;
    }
}
