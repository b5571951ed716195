package rebalancecheck;

import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.message.OffsetFetchRequestData;
import org.apache.kafka.common.message.OffsetFetchResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.coordinator.group.GroupCoordinator;
import org.apache.kafka.server.util.timer.TimerTask;

/** A broker as far as groups are concerned: Kafka's own coordinator on a journal and timers of ours. */
public abstract class Node {
    public static final int PARTITION_NUMBER = 0;
    public static final TopicPartition PARTITION = new TopicPartition("__consumer_offsets", PARTITION_NUMBER);

    /** What a group looks like from inside the coordinator; of a group that does not exist, null. */
    public record Inside(int generation, String leader) { }

    protected final VirtualTime time;
    protected final VirtualTime.Timers timers;
    protected Journal journal = new Journal();
    protected GroupCoordinator service;
    /** What appends fail with; null: they succeed. */
    protected Errors failure;
    protected boolean acknowledging = true;
    protected boolean holdingLoad;
    private boolean dead;

    protected Node(VirtualTime time) {
        this.time = time;
        this.timers = time.new Timers();
    }

    public abstract void announce(Map<String, Integer> partitionsOfTopic);

    public abstract Inside inspect(String group);

    /** The timers that run, by the keys that the coordinator gave them. */
    public abstract Map<String, TimerTask> runningTimers();

    public abstract String sessionKey(String group, String member);

    public abstract String joinKey(String group);

    public abstract String syncKey(String group);

    /** The journal, a line for each record. */
    public abstract String journalText();

    public abstract void highWatermark(long offset);

    public abstract void releaseLoad();

    /** The transaction of a producer ends: its marker is appended, and the coordinator learns of it. */
    public abstract CompletableFuture<Void> endTransaction(long producer, TransactionResult result);

    public abstract CompletableFuture<OffsetFetchResponseData.OffsetFetchResponseGroup> fetchOffsets(
        RequestContext context, OffsetFetchRequestData.OffsetFetchRequestGroup group, boolean stable);

    public abstract AbstractResponse offsetFetchResponse(
        List<OffsetFetchResponseData.OffsetFetchResponseGroup> groups, short version);

    // ------------------------------------------------------------------------------------------ start and end

    void elect(int epoch) {
        service.onElection(PARTITION_NUMBER, epoch);
    }

    void resign(int epoch) {
        service.onResignation(PARTITION_NUMBER, OptionalInt.of(epoch));
    }

    /** It stops where it is, and answers nothing any more. */
    void crash() {
        dead = true;
        timers.close();
    }

    boolean isDead() {
        return dead;
    }

    void acknowledge(boolean on) {
        acknowledging = on;
        if (on) {
            highWatermark(journal.end());
        }
    }

    protected void runLater(Runnable event, boolean first) {
        time.runLater(() -> {
            if (!dead) {
                event.run();
            }
        }, first);
    }

    // ------------------------------------------------------------------------------------------------ for glue

    /** An implementation that does nothing, for metrics and for what is not driven here. */
    protected static <T> T nothing(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type},
            (proxy, method, arguments) -> switch (method.getName()) {
                case "hashCode" -> System.identityHashCode(proxy);
                case "equals" -> proxy == arguments[0];
                case "toString" -> type.getSimpleName();
                default -> null;
            }));
    }

    /** A private field of one of Kafka's objects. */
    protected static <T> T field(Class<?> owner, Object object, String name, Class<T> type) {
        try {
            Field field = owner.getDeclaredField(name);
            field.setAccessible(true);
            return type.cast(field.get(object));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("this release of Kafka has no " + owner.getSimpleName() + "." + name, e);
        }
    }
}
