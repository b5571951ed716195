package rebalancecheck.connect;

import java.util.*;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.source.*;

/** A source connector whose start, stop and configuration of tasks block or fail on demand, and are in the journal. */
public final class RecordingSource extends SourceConnector {
    private Recorded recorded;

    @Override public void start(Map<String, String> properties) { (recorded = new Recorded(properties)).start(); }
    @Override public List<Map<String, String>> taskConfigs(int most) { return recorded.taskConfigs(most); }

    /** A connector that never started has nothing to stop. */
    @Override public void stop() { if (recorded != null) recorded.stop(); }

    @Override public ExactlyOnceSupport exactlyOnceSupport(Map<String, String> properties) {
        return ExactlyOnceSupport.SUPPORTED;
    }

    @Override public Class<? extends org.apache.kafka.connect.connector.Task> taskClass() { return Task.class; }
    @Override public ConfigDef config() { return new ConfigDef(); }
    @Override public String version() { return Recorded.VERSION; }

    /** Produces its own name and a number to the topic {@code recording.topic}, or nothing without one. */
    public static final class Task extends SourceTask {
        private static final long POLL_MS = 100;

        private String topic;
        private Recorded recorded;
        private long produced;

        @Override public void start(Map<String, String> properties) {
            topic = properties.get("recording.topic");
            recorded = new Recorded(properties);
            recorded.start();
        }

        @Override public List<SourceRecord> poll() throws InterruptedException {
            recorded.pass("poll");
            Thread.sleep(POLL_MS);
            if (topic == null) return null;
            String value = recorded.item + " " + ++produced;
            return List.of(new SourceRecord(Map.of("task", recorded.item), Map.of("number", produced), topic,
                Schema.STRING_SCHEMA, value));
        }

        @Override public void stop() { if (recorded != null) recorded.stop(); }
        @Override public String version() { return Recorded.VERSION; }
    }
}
