package rebalancecheck.connect;

import java.util.*;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.sink.*;

/** A sink connector whose start, stop and configuration of tasks block or fail on demand, and are in the journal. */
public final class RecordingSink extends SinkConnector {
    private Recorded recorded;

    @Override public void start(Map<String, String> properties) { (recorded = new Recorded(properties)).start(); }
    @Override public List<Map<String, String>> taskConfigs(int most) { return recorded.taskConfigs(most); }
    @Override public void stop() { if (recorded != null) recorded.stop(); }
    @Override public Class<? extends org.apache.kafka.connect.connector.Task> taskClass() { return Task.class; }
    @Override public ConfigDef config() { return new ConfigDef(); }
    @Override public String version() { return Recorded.VERSION; }

    /** Takes records and keeps none of them; its put blocks or fails as {@code poll} of its name says. */
    public static final class Task extends SinkTask {
        private Recorded recorded;

        @Override public void start(Map<String, String> properties) { (recorded = new Recorded(properties)).start(); }
        @Override public void put(Collection<SinkRecord> records) { recorded.pass("poll"); }
        @Override public void stop() { if (recorded != null) recorded.stop(); }
        @Override public String version() { return Recorded.VERSION; }
    }
}
