package org.apache.kafka.connect.runtime.distributed;

import java.lang.reflect.Method;
import java.util.concurrent.atomic.*;
import javassist.*;
import javassist.expr.*;
import org.apache.kafka.clients.consumer.internals.AbstractCoordinator;
import rebalancecheck.Inside;

/**
 * Kafka's own heartbeat thread, run on the caller's thread up to the place where it would wait. Its three calls of
 * Object.wait are replaced, when the class is loaded, by one that throws; its loop keeps nothing between two turns.
 */
public final class HeartbeatSteps {
    private static final String THREAD =
        "org.apache.kafka.clients.consumer.internals.AbstractCoordinator$HeartbeatThread";
    private static final int WAITS = 3;
    private static boolean parked;

    static final class Waits extends Error {
        Waits() { super(null, null, false, false); }
    }

    /** The call in the place where the thread waited. */
    public static void waits() {
        parked = true;
        throw new Waits();
    }

    /** Before anything loads the class. */
    static void install() throws Exception {
        CtClass thread = new ClassPool(true).get(THREAD);
        int[] found = {0};
        thread.getDeclaredMethod("run").instrument(new ExprEditor() {
            @Override public void edit(MethodCall call) throws CannotCompileException {
                if (call.getMethodName().equals("wait")) {
                    call.replace("{ org.apache.kafka.connect.runtime.distributed.HeartbeatSteps.waits(); }");
                    found[0]++;
                }
            }
        });
        if (found[0] != WAITS) {
            throw new IllegalStateException("the heartbeat thread waits at " + found[0] + " places, not at " + WAITS);
        }
        thread.addMethod(CtMethod.make("public synchronized void start() { }", thread));
        thread.toClass(Class.forName("org.apache.kafka.clients.consumer.internals.RequestFuture"));
    }

    /** One turn of the thread, if it was made already. */
    static void run(AbstractCoordinator coordinator) {
        Thread thread = Inside.get(Thread.class, coordinator, "heartbeatThread");
        if (thread == null) return;
        parked = false;
        thread.run();
        if (parked) revive(thread);
    }

    /** When the next heartbeat is due, from the start; -1 while the worker is not joined. */
    static long dueMs(AbstractCoordinator coordinator, long nowMs) throws ReflectiveOperationException {
        Method wait = AbstractCoordinator.class.getDeclaredMethod("timeToNextHeartbeat", long.class);
        wait.setAccessible(true);
        long waitMs = (long) wait.invoke(coordinator, nowMs);
        return waitMs == Long.MAX_VALUE ? -1 : nowMs + waitMs - StepTime.START_MS;
    }

    /** Undo the effects of its handlers on being unwound. */
    private static void revive(Thread thread) {
        if (Inside.get(thread, "closed") instanceof AtomicBoolean flag) flag.set(false);
        else Inside.set(thread, "closed", false);
        for (String name : new String[] {"failed", "failureCause"}) {
            if (Inside.has(thread, name) && Inside.get(thread, name) instanceof AtomicReference<?> cause
                && cause.get() instanceof RuntimeException failure && failure.getCause() instanceof Waits) {
                cause.set(null);
            }
        }
    }
}
