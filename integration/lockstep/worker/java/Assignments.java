package rebalancecheck.worker;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Collection;
import org.apache.kafka.connect.runtime.distributed.ExtendedAssignment;

/** Assignments as the driver reads them. */
final class Assignments {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Assignments() {
    }

    static ObjectNode describe(ExtendedAssignment assignment) {
        ObjectNode node = JSON.createObjectNode();
        node.put("version", assignment.version()).put("error", assignment.error()).put("leader", assignment.leader());
        node.put("leader_url", assignment.leaderUrl()).put("offset", assignment.offset())
            .put("delay", assignment.delay());
        names(node.putArray("connectors"), assignment.connectors());
        names(node.putArray("tasks"), assignment.tasks());
        names(node.putArray("revoked_connectors"), assignment.revokedConnectors());
        names(node.putArray("revoked_tasks"), assignment.revokedTasks());
        return node;
    }

    private static void names(ArrayNode into, Collection<?> work) {
        work.forEach(each -> into.add(each.toString()));
    }
}
