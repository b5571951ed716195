package rebalancecheck.worker;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.connect.runtime.TargetState;
import org.apache.kafka.connect.storage.ClusterConfigState;
import org.apache.kafka.connect.util.ConnectorTaskId;

/** A snapshot of the config topic, of started connectors with as many tasks as the driver names. */
final class Configs {
    private Configs() {
    }

    static ClusterConfigState read(JsonNode step) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        Map<String, Map<String, String>> connectors = new LinkedHashMap<>();
        Map<String, TargetState> targets = new LinkedHashMap<>();
        Map<ConnectorTaskId, Map<String, String>> tasks = new LinkedHashMap<>();
        step.get("counts").fields().forEachRemaining(each -> {
            counts.put(each.getKey(), each.getValue().asInt());
            connectors.put(each.getKey(), Map.of());
            targets.put(each.getKey(), TargetState.STARTED);
            for (int task = 0; task < each.getValue().asInt(); task++) {
                tasks.put(new ConnectorTaskId(each.getKey(), task), Map.of());
            }
        });
        return new ClusterConfigState(step.get("offset").asLong(), null, counts, connectors, targets, tasks, Map.of(),
            Map.of(), Map.of(), Set.of(), Set.of());
    }
}
