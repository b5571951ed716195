package org.apache.kafka.connect.storage;

import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.common.errors.*;
import org.apache.kafka.connect.util.KafkaBasedLog;
import rebalancecheck.*;

/**
 * The log under a store, recorded call by call. Sends with a callback (of the status store) wait until a step reports
 * on them; those with a receipt (of the config store) are prompt, and fail where a step says so.
 */
final class StubLog implements Inside.Stub {
    /** The operation that fails: send, readToEnd or readHang. */
    String failing;
    long nextOffset;
    /** Reads the topic's records before {@code start} returns. */
    Runnable atStart = this::deliver;
    /** Is done before {@code flush} returns. */
    Runnable atFlush = () -> { };
    private final List<String> trace;
    private final int partitions;
    private final org.apache.kafka.connect.util.Callback<ConsumerRecord<String, byte[]>> consumed;
    private final ArrayDeque<ConsumerRecord<String, byte[]>> records = new ArrayDeque<>();
    private final List<Callback> sent = new ArrayList<>();
    private boolean stopped;

    @SuppressWarnings("unchecked") final KafkaBasedLog<String, byte[]> kafka = Overridden.of(KafkaBasedLog.class, this);

    StubLog(List<String> trace, int partitions,
            org.apache.kafka.connect.util.Callback<ConsumerRecord<String, byte[]>> consumed) {
        this.trace = trace;
        this.partitions = partitions;
        this.consumed = consumed;
    }

    void append(String key, byte[] value) { records.add(new ConsumerRecord<>("configs", 0, nextOffset++, key, value)); }
    void fail() { consumed.onCompletion(new RuntimeException("poll failed"), null); }

    void deliver() {
        while (!records.isEmpty()) {
            ConsumerRecord<String, byte[]> record = records.poll();
            try {
                consumed.onCompletion(null, record);
            } catch (Throwable thrown) {
                trace.add("ESCAPES callback at offset " + record.offset() + ": " + thrown.getClass().getSimpleName());
            }
        }
    }

    /** As the producer does: exceptions of its callbacks go no further. */
    void complete(int number, String outcome) {
        Callback callback = number < sent.size() ? sent.set(number, null) : null;
        if (callback == null) return;
        try {
            callback.onCompletion(null, switch (outcome) {
                case "ok" -> null;
                case "retriable" -> new TimeoutException("late");
                default -> new RecordTooLargeException("large");
            });
        } catch (RuntimeException swallowed) {
            trace.add("SWALLOWED " + swallowed.getClass().getSimpleName());
        }
    }

    void note(String what, String key, byte[] value) {
        trace.add(what + " " + key + " = " + (value == null ? "<null>" : new String(value, StandardCharsets.UTF_8)));
    }

    @Override public Object called(String method, Object[] arguments) {
        switch (method) {
            case "send" -> {
                if (stopped) throw new IllegalStateException("Cannot perform operation after producer has been closed");
                note("send", (String) arguments[0], (byte[]) arguments[1]);
                sent.add((Callback) arguments[2]);
            }
            case "sendWithReceipt" -> {
                note("send", (String) arguments[0], (byte[]) arguments[1]);
                if ("send".equals(failing)) return CompletableFuture.failedFuture(new TimeoutException("boom"));
                append((String) arguments[0], (byte[]) arguments[1]);
                return CompletableFuture.completedFuture(null);
            }
            case "readToEnd" -> {
                trace.add("readToEnd");
                if ("readToEnd".equals(failing)) return CompletableFuture.failedFuture(new RuntimeException("boom"));
                if ("readHang".equals(failing)) return new CompletableFuture<>();
                deliver();
                return CompletableFuture.completedFuture(null);
            }
            case "partitionCount" -> { return partitions; }
            default -> {
                trace.add("log." + method);
                if (method.equals("start")) atStart.run();
                if (method.equals("flush")) atFlush.run();
                stopped |= method.equals("stop");
            }
        }
        return null;
    }
}
