package rebalancecheck;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** A replica of the one partition of {@code __consumer_offsets}: record batches as the coordinator wrote them. */
public final class Journal {
    /** One append: its first offset, how many records, and their bytes. */
    public record Batch(long base, int count, byte[] bytes) {
        public ByteBuffer buffer() {
            return ByteBuffer.wrap(bytes);
        }
    }

    private final List<Batch> batches = new ArrayList<>();
    private long end;
    private long highWatermark;

    public List<Batch> batches() {
        return batches;
    }

    public long end() {
        return end;
    }

    public long highWatermark() {
        return highWatermark;
    }

    /** Append a copy of the bytes, because the coordinator uses its buffer again. */
    public void append(int count, ByteBuffer records) {
        byte[] bytes = new byte[records.remaining()];
        records.duplicate().get(bytes);
        batches.add(new Batch(end, count, bytes));
        end += count;
    }

    public void commit(long offset) {
        highWatermark = Math.max(highWatermark, Math.min(offset, end));
    }

    /** What a replica holds that missed the last {@code lost} records; committed ones only if {@code unclean}. */
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
}
