package rebalancecheck.connect;

import java.util.Collection;
import java.util.Map;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTask;

/** A task that takes records and keeps none of them; its put blocks or fails as {@code poll} of its name says. */
public final class RecordingSinkTask extends SinkTask {
    private Recorded recorded;

    @Override
    public void start(Map<String, String> properties) {
        recorded = new Recorded(Configs.task(properties));
        recorded.start();
    }

    @Override
    public void put(Collection<SinkRecord> records) {
        Control.pass("poll", recorded.item);
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
