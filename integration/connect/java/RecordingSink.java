package rebalancecheck.connect;

import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.sink.SinkConnector;

/** A sink connector whose start, stop and configuration of tasks block or fail on demand, and are in the journal. */
public final class RecordingSink extends SinkConnector {
    private final RecordedConnector connector = new RecordedConnector();

    @Override
    public void start(Map<String, String> properties) {
        connector.start(properties);
    }

    @Override
    public List<Map<String, String>> taskConfigs(int most) {
        return connector.taskConfigs(most);
    }

    @Override
    public void stop() {
        connector.stop();
    }

    @Override
    public Class<? extends Task> taskClass() {
        return RecordingSinkTask.class;
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef();
    }

    @Override
    public String version() {
        return RecordedConnector.VERSION;
    }
}
