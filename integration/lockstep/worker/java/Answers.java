package rebalancecheck.worker;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.apache.kafka.common.message.HeartbeatResponseData;
import org.apache.kafka.common.message.JoinGroupRequestData;
import org.apache.kafka.common.message.JoinGroupResponseData;
import org.apache.kafka.common.message.LeaveGroupResponseData;
import org.apache.kafka.common.message.SyncGroupRequestData;
import org.apache.kafka.common.message.SyncGroupResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.HeartbeatRequest;
import org.apache.kafka.common.requests.HeartbeatResponse;
import org.apache.kafka.common.requests.JoinGroupRequest;
import org.apache.kafka.common.requests.JoinGroupResponse;
import org.apache.kafka.common.requests.LeaveGroupRequest;
import org.apache.kafka.common.requests.LeaveGroupResponse;
import org.apache.kafka.common.requests.SyncGroupRequest;
import org.apache.kafka.common.requests.SyncGroupResponse;

/** Requests as the driver reads them, and the answers that it chooses. */
final class Answers {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HexFormat HEX = HexFormat.of();

    private Answers() {
    }

    static void give(StubClient client, JsonNode step) {
        ApiKeys api = ApiKeys.valueOf(step.get("api").asText());
        client.answer(api, response(api, step));
    }

    private static AbstractResponse response(ApiKeys api, JsonNode step) {
        short error = (short) step.get("error").asInt();
        return switch (api) {
            case JOIN_GROUP -> new JoinGroupResponse(joined(step, error), api.latestVersion());
            case SYNC_GROUP -> new SyncGroupResponse(new SyncGroupResponseData().setErrorCode(error)
                .setAssignment(HEX.parseHex(step.path("assignment").asText("")))
                .setProtocolType(null).setProtocolName(null));
            case HEARTBEAT -> new HeartbeatResponse(new HeartbeatResponseData().setErrorCode(error));
            case LEAVE_GROUP -> new LeaveGroupResponse(new LeaveGroupResponseData().setErrorCode(error));
            default -> throw new IllegalArgumentException(step.toString());
        };
    }

    private static JoinGroupResponseData joined(JsonNode step, short error) {
        JoinGroupResponseData data = new JoinGroupResponseData().setErrorCode(error)
            .setGenerationId(step.path("generation").asInt(-1)).setProtocolType("connect")
            .setProtocolName(step.path("protocol").asText("")).setLeader(step.path("leader").asText(""))
            .setMemberId(step.path("member").asText(""));
        step.path("members").forEach(member -> data.members().add(new JoinGroupResponseData.JoinGroupResponseMember()
            .setMemberId(member.get("id").asText()).setMetadata(HEX.parseHex(member.get("metadata").asText()))));
        return data;
    }

    static ObjectNode describe(AbstractRequest request) {
        ObjectNode node = JSON.createObjectNode().put("api", request.apiKey().name());
        if (request instanceof JoinGroupRequest join) {
            JoinGroupRequestData data = join.data();
            node.put("member", data.memberId()).put("session", data.sessionTimeoutMs());
            node.put("rebalance", data.rebalanceTimeoutMs()).put("type", data.protocolType());
            ArrayNode protocols = node.putArray("protocols");
            data.protocols().forEach(each -> protocols.addArray().add(each.name()).add(HEX.formatHex(each.metadata())));
            node.put("reason", data.reason());
        } else if (request instanceof SyncGroupRequest sync) {
            SyncGroupRequestData data = sync.data();
            node.put("member", data.memberId()).put("generation", data.generationId());
            node.put("type", data.protocolType()).put("protocol", data.protocolName());
            ObjectNode assignments = node.putObject("assignments");
            data.assignments().forEach(each -> assignments.put(each.memberId(), HEX.formatHex(each.assignment())));
        } else if (request instanceof HeartbeatRequest beat) {
            node.put("member", beat.data().memberId()).put("generation", beat.data().generationId());
        } else if (request instanceof LeaveGroupRequest leave) {
            leave.data().members().forEach(each -> node.put("member", each.memberId()).put("reason", each.reason()));
        }
        return node;
    }
}
