package org.apache.kafka.coordinator.group;

import java.nio.ByteBuffer;
import java.util.*;
import org.apache.kafka.common.record.*;
import org.apache.kafka.common.record.internal.*;
import org.apache.kafka.common.requests.TransactionResult;

/** A replica of the one partition of {@code __consumer_offsets}: record batches as the coordinator wrote them. */
final class Journal {
    /** One append: its first offset, how many records, and their bytes. */
    record Batch(long base, int count, byte[] bytes) {
        Iterable<MutableRecordBatch> records() {
            return MemoryRecords.readableRecords(ByteBuffer.wrap(bytes)).batches();
        }
    }

    final List<Batch> batches = new ArrayList<>();
    long end;
    long highWatermark;

    /** Append a copy of the bytes, because the coordinator uses its buffer again. */
    void append(MemoryRecords records) {
        int count = 0;
        for (var ignored : records.records()) count++;
        byte[] bytes = new byte[records.buffer().remaining()];
        records.buffer().duplicate().get(bytes);
        batches.add(new Batch(end, count, bytes));
        end += count;
    }

    void commit(long offset) { highWatermark = Math.max(highWatermark, Math.min(offset, end)); }

    /** The records of a replica that missed the last {@code lost} records; committed ones only if {@code unclean}. */
    Journal replica(long lost, boolean unclean) {
        long keep = Math.max(unclean ? 0 : highWatermark, end - lost);
        Journal copy = new Journal();
        for (Batch batch : batches) {
            if (batch.base() + batch.count() <= keep) {
                copy.batches.add(batch);
                copy.end = batch.base() + batch.count();
            }
        }
        copy.highWatermark = copy.end;
        return copy;
    }

    static TransactionResult markedResult(ByteBuffer markerKey) {
        return TransactionResult.valueOf(ControlRecordType.parse(markerKey).name());
    }

    /** A line for each record: its offset, its producer, and the record or the transaction's end. */
    String text() {
        StringBuilder text = new StringBuilder();
        for (Batch stored : batches) {
            long offset = stored.base();
            for (MutableRecordBatch batch : stored.records()) {
                for (var each : batch) {
                    Object shown = batch.isControlBatch()
                        ? markedResult(each.key()) : Release.SERDE.deserialize(each.key(), each.value());
                    text.append(offset++).append(' ').append(batch.producerId()).append(' ').append(shown).append('\n');
                }
            }
        }
        return text.toString();
    }
}
