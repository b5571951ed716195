package org.apache.kafka.coordinator.group;

import java.util.*;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.timer.TimerTask;
import org.apache.kafka.server.util.timer.TimerTaskEntry;
import rebalancecheck.Tasks;

/**
 * Clock, timers and pending work of one environment. Everything runs on the thread that calls, and only when it calls.
 */
final class VirtualTime implements Time {
    static final long START_MS = 1_000_000_000_000L;

    /** A timer whose firing arms it again without delay would fire for ever at one instant: see {@code Timers.add}. */
    private static final int MOST_WITHOUT_DELAY = 100;

    private long nowMs = START_MS;
    private long scheduled;
    private final PriorityQueue<Due> due = new PriorityQueue<>();
    /** Due, and held back until time passes. */
    private final List<Due> late = new ArrayList<>();
    /** Armed without delay once too often at this instant, and held back until something else happens. */
    private final List<Due> again = new ArrayList<>();
    private int withoutDelay;
    private final ArrayDeque<Runnable> events = new ArrayDeque<>();
    private final ArrayDeque<Runnable> background = new ArrayDeque<>();
    /** The first exception since the driver looked last; empty if there was none. */
    String thrown = "";

    @Override public long milliseconds() { return nowMs; }
    @Override public long nanoseconds() { return TimeUnit.MILLISECONDS.toNanos(nowMs); }
    @Override public void sleep(long ms) { throw new IllegalStateException("nobody may sleep in virtual time"); }

    @Override public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
        throw new IllegalStateException("nobody may wait in virtual time");
    }

    void runLater(Runnable event, boolean first) {
        if (first) events.addFirst(event);
        else events.addLast(event);
    }

    /** An executor whose tasks run when no event is left. */
    Tasks background() { return new Tasks(background::add); }

    /** Run the work of this instant: events first, then background tasks, then timers without delay. */
    void settle() {
        recallAgain();
        do {
            for (Runnable next = nextWork(); next != null; next = nextWork()) guarded(next);
        } while (fireNext(nowMs));
    }

    private Runnable nextWork() { return events.isEmpty() ? background.poll() : events.poll(); }

    /** The earliest deadline; -1 if no timer runs. */
    long nextDeadlineMs() {
        while (!due.isEmpty() && due.peek().isOver()) due.poll();
        return due.isEmpty() ? -1 : due.peek().atMs;
    }

    /** Let time pass, and every timer fire on its way. */
    void advance(long ms) {
        recallLate();
        long until = nowMs + ms;
        while (fireNext(until)) settle();
        nowMs = until;
        settle();
    }

    /** Go to the deadline of one timer and fire it. Others that became due on the way are late until time passes. */
    void fire(TimerTask task) {
        recallLate();
        Due chosen = due.stream().filter(each -> each.entry.timerTask == task && !each.isOver()).findFirst()
            .orElseThrow(() -> new IllegalArgumentException("this timer does not run"));
        due.remove(chosen);
        while (nextDeadlineMs() >= 0 && nextDeadlineMs() <= Math.max(nowMs, chosen.atMs)) late.add(due.poll());
        run(chosen);
        settle();
    }

    /** The timers of one node that run, late ones too, by deadline. */
    List<TimerTask> running(Timers owner) {
        return Stream.of(due, late, again).flatMap(Collection::stream)
            .filter(each -> each.owner == owner && !each.isOver()).sorted()
            .map(each -> each.entry.timerTask).toList();
    }

    private void recallLate() {
        due.addAll(late);
        late.clear();
        recallAgain();
    }

    private void recallAgain() {
        withoutDelay = 0;
        due.addAll(again);
        again.clear();
    }

    private boolean fireNext(long untilMs) {
        long at = nextDeadlineMs();
        if (at < 0 || at > untilMs) return false;
        run(due.poll());
        return true;
    }

    private void run(Due timer) {
        nowMs = Math.max(nowMs, timer.atMs);
        timer.entry.timerTask.cancel();
        guarded(timer.entry.timerTask);
    }

    /** In a broker such an exception ends a piece of work on some thread, is logged, and the next piece begins. */
    private void guarded(Runnable work) {
        try {
            work.run();
        } catch (RuntimeException e) {
            thrown = thrown.isEmpty() ? e.toString() : thrown;
        }
    }

    private record Due(long atMs, long order, TimerTaskEntry entry, Timers owner) implements Comparable<Due> {
        boolean isOver() { return owner.stopped || entry.cancelled(); }

        @Override public int compareTo(Due other) {
            return atMs != other.atMs ? Long.compare(atMs, other.atMs) : Long.compare(order, other.order);
        }
    }

    /** The timers of one node; none of them fires after {@code close}. */
    final class Timers implements org.apache.kafka.server.util.timer.Timer {
        private boolean stopped;

        /**
         * A broker, too, fires a timer without delay at once. Kafka's coordinator may arm one again each time that it
         * fires; on a broker requests come in between, so here that timer waits for the next of them, or for another
         * timer.
         */
        @Override public void add(TimerTask task) {
            long at = nowMs + Math.max(0, task.delayMs);
            Due timer = new Due(at, scheduled++, new TimerTaskEntry(task, at), this);
            boolean tooOften = task.delayMs <= 0 && ++withoutDelay > MOST_WITHOUT_DELAY;
            (tooOften ? again : due).add(timer);
        }

        @Override public boolean advanceClock(long timeoutMs) {
            throw new IllegalStateException("only the driver moves the clock");
        }

        @Override public int size() { return due.size(); }
        @Override public void close() { stopped = true; }
    }
}
