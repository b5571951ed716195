package rebalancecheck.connect;

import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.source.ExactlyOnceSupport;
import org.apache.kafka.connect.source.SourceConnector;

/** A source connector whose start, stop and configuration of tasks block or fail on demand, and are in the journal. */
public final class RecordingSource extends SourceConnector {
    private Map<String, String> config;
    private Recorded recorded;

    @Override
    public void start(Map<String, String> properties) {
        config = properties;
        recorded = new Recorded(Configs.connector(properties));
        recorded.start();
    }

    @Override
    public List<Map<String, String>> taskConfigs(int most) {
        Control.pass("configure", recorded.item);
        return Configs.ofTasks(config, most);
    }

    @Override
    public void stop() {
        if (recorded != null) {
            recorded.stop();
        }
    }

    @Override
    public ExactlyOnceSupport exactlyOnceSupport(Map<String, String> properties) {
        return ExactlyOnceSupport.SUPPORTED;
    }

    @Override
    public Class<? extends Task> taskClass() {
        return RecordingSourceTask.class;
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef();
    }

    @Override
    public String version() {
        return "1";
    }
}
