package org.apache.kafka.connect.runtime.distributed;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;

/** A clock that the driver moves. A thread that sleeps waits for it. */
final class StepTime implements Time {
    static final long START_MS = 1_000_000;
    long nowMs = START_MS;

    @Override public long milliseconds() { return nowMs; }
    @Override public long nanoseconds() { return TimeUnit.MILLISECONDS.toNanos(nowMs); }

    @Override public void sleep(long ms) {
        long untilMs = nowMs + ms;
        while (nowMs < untilMs) HerderThread.current().park(untilMs, false);
    }

    @Override public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
        throw new IllegalStateException("nothing waits on an object here");
    }
}
