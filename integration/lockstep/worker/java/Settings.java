package rebalancecheck.worker;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.GroupRebalanceConfig;
import org.apache.kafka.connect.runtime.distributed.DistributedConfig;

/** The settings of a worker: what it must be given, and else Kafka's own defaults. */
final class Settings {
    private Settings() {
    }

    static GroupRebalanceConfig ofGroup(String mode) {
        return new GroupRebalanceConfig(ofWorker(mode), GroupRebalanceConfig.ProtocolType.CONNECT);
    }

    static DistributedConfig ofWorker(String mode) {
        Map<String, String> properties = new HashMap<>();
        properties.put("bootstrap.servers", "broker:9092");
        properties.put("group.id", "g");
        properties.put("connect.protocol", mode);
        for (String topic : new String[] {"config", "offset", "status"}) {
            properties.put(topic + ".storage.topic", topic);
        }
        for (String converter : new String[] {"key.converter", "value.converter"}) {
            properties.put(converter, "org.apache.kafka.connect.json.JsonConverter");
        }
        return new DistributedConfig(properties);
    }
}
