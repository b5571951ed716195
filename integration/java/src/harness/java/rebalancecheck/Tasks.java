package rebalancecheck;

import java.util.List;
import java.util.concurrent.*;
import java.util.function.Consumer;

/** An executor without threads: each task goes to {@code taken}, on the caller's thread. */
public class Tasks extends AbstractExecutorService {
    private final Consumer<Runnable> taken;
    private boolean over;

    public Tasks(Consumer<Runnable> taken) { this.taken = taken; }

    @Override public void execute(Runnable task) {
        if (over) throw new RejectedExecutionException("shut down");
        taken.accept(task);
    }

    @Override public void shutdown() { over = true; }

    @Override public List<Runnable> shutdownNow() {
        over = true;
        return List.of();
    }

    @Override public boolean isShutdown() { return over; }
    @Override public boolean isTerminated() { return over; }
    @Override public boolean awaitTermination(long timeout, TimeUnit unit) { return true; }
}
