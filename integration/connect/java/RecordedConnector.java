package rebalancecheck.connect;

import java.util.List;
import java.util.Map;

/** What both connectors do: start, stop and configuration of tasks block or fail on demand, and are in the journal. */
final class RecordedConnector {
    static final String VERSION = "1";

    private Map<String, String> config;
    private Recorded recorded;

    void start(Map<String, String> properties) {
        config = properties;
        recorded = new Recorded(Configs.connector(properties));
        recorded.start();
    }

    List<Map<String, String>> taskConfigs(int most) {
        Control.pass("configure", recorded.item);
        return Configs.ofTasks(config, most);
    }

    /** A connector that never started has nothing to stop. */
    void stop() {
        if (recorded != null) {
            recorded.stop();
        }
    }
}
