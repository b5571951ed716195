package org.apache.kafka.connect.storage;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/** The retry thread, which works when a step says so; on its end it does what waits. */
final class ManualExecutor extends AbstractExecutorService {
    private final Deque<Runnable> waiting = new ArrayDeque<>();
    private boolean shutdown;
    private final List<String> trace;

    ManualExecutor(List<String> trace) {
        this.trace = trace;
    }

    int waiting() {
        return waiting.size();
    }

    void runOne() {
        Runnable next = waiting.poll();
        if (next != null) {
            next.run();
        }
    }

    @Override
    public void execute(Runnable task) {
        if (shutdown) {
            throw new RejectedExecutionException("shut down");
        }
        waiting.add(task);
    }

    @Override
    public void shutdown() {
        shutdown = true;
    }

    @Override
    public List<Runnable> shutdownNow() {
        shutdown = true;
        List<Runnable> left = new ArrayList<>(waiting);
        waiting.clear();
        return left;
    }

    @Override
    public boolean isShutdown() {
        return shutdown;
    }

    @Override
    public boolean isTerminated() {
        return shutdown && waiting.isEmpty();
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
        trace.add("retries.await " + unit.toMillis(timeout) + " ms");
        while (!waiting.isEmpty()) {
            runOne();
        }
        return true;
    }
}
