package rebalancecheck.connect;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;

/** A task that produces its own name and a number to the topic {@code recording.topic}, or nothing without one. */
public final class RecordingSourceTask extends SourceTask {
    private static final long POLL_MS = 100;

    private String topic;
    private Recorded recorded;
    private long produced;

    @Override
    public void start(Map<String, String> properties) {
        topic = properties.get("recording.topic");
        recorded = new Recorded(Configs.task(properties));
        recorded.start();
    }

    @Override
    public List<SourceRecord> poll() throws InterruptedException {
        Control.pass("poll", recorded.item);
        Thread.sleep(POLL_MS);
        if (topic == null) {
            return null;
        }
        Map<String, ?> partition = Collections.singletonMap("task", recorded.item);
        Map<String, ?> offset = Collections.singletonMap("number", ++produced);
        String value = recorded.item + " " + produced;
        return Collections.singletonList(new SourceRecord(partition, offset, topic, Schema.STRING_SCHEMA, value));
    }

    @Override
    public void stop() {
        if (recorded != null) {
            recorded.stop();
        }
    }

    @Override
    public String version() {
        return "1";
    }
}
