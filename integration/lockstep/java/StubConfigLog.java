package org.apache.kafka.connect.storage;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.connect.util.Callback;
import org.apache.kafka.connect.util.KafkaBasedLog;

/** The log under the config store: prompt, recorded call by call, and failing where a step says so. */
final class StubConfigLog extends KafkaBasedLog<String, byte[]> {
    String failing;
    long nextOffset;
    private final Callback<ConsumerRecord<String, byte[]>> callback;
    private final List<String> trace;
    private final int partitions;
    private final List<ConsumerRecord<String, byte[]>> records = new ArrayList<>();
    private int position;

    StubConfigLog(Callback<ConsumerRecord<String, byte[]>> callback, List<String> trace, int partitions) {
        super("configs", Collections.emptyMap(), Collections.emptyMap(), () -> null, null, Time.SYSTEM, null);
        this.callback = callback;
        this.trace = trace;
        this.partitions = partitions;
    }

    void append(String key, byte[] value) {
        records.add(new ConsumerRecord<>("configs", 0, nextOffset++, key, value));
    }

    void fail() {
        callback.onCompletion(new RuntimeException("poll failed"), null);
    }

    void deliver() {
        while (position < records.size()) {
            ConsumerRecord<String, byte[]> record = records.get(position++);
            try {
                callback.onCompletion(null, record);
            } catch (Throwable thrown) {
                trace.add("ESCAPES callback at offset " + record.offset() + ": " + thrown.getClass().getSimpleName());
            }
        }
    }

    @Override
    public void start() {
        trace.add("log.start");
        deliver();
    }

    @Override
    public void stop() {
        trace.add("log.stop");
    }

    @Override
    public int partitionCount() {
        return partitions;
    }

    @Override
    public Future<Void> readToEnd() {
        trace.add("readToEnd");
        CompletableFuture<Void> done = new CompletableFuture<>();
        if ("readToEnd".equals(failing)) {
            done.completeExceptionally(new RuntimeException("boom"));
        } else if (!"readHang".equals(failing)) {
            deliver();
            done.complete(null);
        }
        return done;
    }

    @Override
    public Future<RecordMetadata> sendWithReceipt(String key, byte[] value) {
        trace.add("send " + key + " = " + StoreServer.shown(value));
        CompletableFuture<RecordMetadata> done = new CompletableFuture<>();
        if ("send".equals(failing)) {
            done.completeExceptionally(new TimeoutException("boom"));
        } else {
            append(key, value);
            done.complete(null);
        }
        return done;
    }
}
