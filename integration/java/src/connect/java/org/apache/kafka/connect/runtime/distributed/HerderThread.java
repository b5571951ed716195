package org.apache.kafka.connect.runtime.distributed;

import java.util.concurrent.locks.LockSupport;

/** A thread that runs only while the caller waits for it: at any time one of the two runs. */
final class HerderThread {
    private static final ThreadLocal<HerderThread> CURRENT = new ThreadLocal<>();

    private final Thread thread;
    private volatile boolean runs;
    private volatile Thread caller;
    /** When it can go on by itself; set where it parks. */
    long dueMs = Long.MAX_VALUE;
    /** It is to park at the next place where it holds no lock, so that the heartbeat thread has its turn. */
    boolean yields;
    /** It waits for the network, with the lock of the client; set where it parks. */
    boolean polls;
    /** Shared with the heartbeat thread. */
    Object monitor;
    /** It holds the monitor; set where it parks. */
    boolean holdsMonitor;

    HerderThread(Runnable body) {
        thread = new Thread(() -> {
            CURRENT.set(this);
            await();
            body.run();
            runs = false;
            LockSupport.unpark(caller);
        }, "herder");
        thread.setDaemon(true);
        thread.start();
    }

    static HerderThread current() { return CURRENT.get(); }

    /** The caller's side: let it run until it parks or ends. */
    void run() {
        caller = Thread.currentThread();
        runs = true;
        LockSupport.unpark(thread);
        while (runs) LockSupport.park(this);
    }

    /** Its own side: wait until the caller runs it again. */
    void park(long untilMs, boolean pollsNetwork) {
        dueMs = untilMs;
        polls = pollsNetwork;
        holdsMonitor = Thread.holdsLock(monitor);
        runs = false;
        LockSupport.unpark(caller);
        await();
    }

    private void await() { while (!runs) LockSupport.park(this); }
}
