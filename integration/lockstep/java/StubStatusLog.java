package org.apache.kafka.connect.storage;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.connect.util.KafkaBasedLog;

/** The log under the status store: sends wait until a step reports on them. */
final class StubStatusLog extends KafkaBasedLog<String, byte[]> {
    private final List<String> trace;
    private final List<Callback> sent = new ArrayList<>();
    private boolean stopped;
    private Runnable reading = () -> { };
    private JsonNode outcomes = MissingNode.getInstance();

    StubStatusLog(List<String> trace) {
        super("statuses", Collections.emptyMap(), Collections.emptyMap(), () -> null, null, Time.SYSTEM, null);
        this.trace = trace;
    }

    /** Reads what the topic holds before `start` returns. */
    void atStart(Runnable reading) {
        this.reading = reading;
    }

    /** Answers these sends before `flush` returns. */
    void atFlush(JsonNode outcomes) {
        this.outcomes = outcomes;
    }

    /** As the producer does: what its callbacks throw goes no further. */
    void complete(int number, String outcome) {
        Callback callback = number < sent.size() ? sent.set(number, null) : null;
        if (callback == null) {
            return;
        }
        Exception failure = "ok".equals(outcome) ? null
            : "retriable".equals(outcome) ? new TimeoutException("late") : new RecordTooLargeException("large");
        try {
            callback.onCompletion(null, failure);
        } catch (RuntimeException swallowed) {
            trace.add("SWALLOWED " + swallowed.getClass().getSimpleName());
        }
    }

    @Override
    public void send(String key, byte[] value, Callback callback) {
        if (stopped) {
            throw new IllegalStateException("Cannot perform operation after producer has been closed");
        }
        trace.add("send " + key + " = " + StoreServer.shown(value));
        sent.add(callback);
    }

    @Override
    public void start() {
        trace.add("log.start");
        reading.run();
    }

    @Override
    public void flush() {
        trace.add("log.flush");
        for (JsonNode outcome : outcomes) {
            trace.add("answer");
            complete(outcome.get("n").asInt(), outcome.get("outcome").asText());
        }
    }

    @Override
    public void stop() {
        trace.add("log.stop");
        stopped = true;
    }
}
