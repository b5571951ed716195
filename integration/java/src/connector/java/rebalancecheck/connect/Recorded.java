package rebalancecheck.connect;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One connector or task from its start to its end: its real run in this worker, as a line for each start and end,
 * and where one blocks, in the file that the system property {@code rebalancecheck.journal} names. Neither the REST
 * interface nor the status topic shows that a task runs in two workers; these lines do.
 *
 * <p>A line is the nanoseconds of the machine's monotonic clock, the event, the connector or task, and a number
 * that is another one for each object that was started; tabs in between. Each line is one write.
 *
 * <p>An operation blocks or fails as files in the folder of {@code rebalancecheck.control} say: {@code block.poll.s-0}
 * blocks the poll of task s-0 in every worker, {@code fail.start.s@w1} lets connector s fail to start in worker w1.
 * A blocked operation goes on when the file is gone; an interruption does not end it.
 */
final class Recorded {
    static final String VERSION = "1";
    private static final Path JOURNAL = Path.of(System.getProperty("rebalancecheck.journal"));
    private static final Path CONTROL = Path.of(System.getProperty("rebalancecheck.control"));
    private static final String WORKER = System.getProperty("rebalancecheck.worker");
    private static final AtomicInteger INCARNATIONS = new AtomicInteger();
    private static final String TASK = "recording.task";
    private static final long CHECK_MS = 20;

    final String item;
    private final Map<String, String> config;
    private final int incarnation = INCARNATIONS.incrementAndGet();
    private boolean running;

    /** A connector, or the task whose number the connector wrote into its configuration. */
    Recorded(Map<String, String> config) {
        this.config = config;
        item = config.get("name") + (config.containsKey(TASK) ? "-" + config.get(TASK) : "");
    }

    /** It runs from here on: also while its start blocks. A start that fails has ended. */
    synchronized void start() {
        running = true;
        write("started", item, incarnation);
        try {
            pass("start");
        } catch (RuntimeException error) {
            end();
            throw error;
        }
    }

    /** It runs until here: also while its stop blocks, and if that fails. */
    void stop() {
        try {
            pass("stop");
        } finally {
            end();
        }
    }

    private synchronized void end() {
        if (running) {
            running = false;
            write("stopped", item, incarnation);
        }
    }

    /** The configurations that a connector gives its tasks: its own, and the number of the task. */
    List<Map<String, String>> taskConfigs(int most) {
        pass("configure");
        int wanted = Integer.parseInt(config.getOrDefault("recording.tasks", String.valueOf(most)));
        List<Map<String, String>> configs = new ArrayList<>();
        for (int number = 0; number < Math.min(wanted, most); number++) {
            configs.add(new HashMap<>(config));
            configs.get(number).put(TASK, String.valueOf(number));
        }
        return configs;
    }

    /** Return when the operation is not, or no longer, blocked; throw when it must fail. */
    void pass(String operation) {
        boolean interrupted = false;
        for (boolean noted = false; asked("block", operation); noted = true) {
            if (!noted) write("blocked", item, 0);
            try { Thread.sleep(CHECK_MS); } catch (InterruptedException ignored) { interrupted = true; }
        }
        if (interrupted) Thread.currentThread().interrupt();
        if (asked("fail", operation)) {
            throw new IllegalStateException(
                operation + " of " + item + " fails because a file in " + CONTROL + " asks for it");
        }
    }

    private boolean asked(String what, String operation) {
        String name = what + "." + operation + "." + item;
        return Files.exists(CONTROL.resolve(name)) || Files.exists(CONTROL.resolve(name + "@" + WORKER));
    }

    private static synchronized void write(String what, String item, int incarnation) {
        String line = System.nanoTime() + "\t" + what + "\t" + item + "\t" + incarnation + "\n";
        try {
            byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
            Files.write(JOURNAL, bytes, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException error) {
            throw new IllegalStateException("the journal " + JOURNAL + " cannot be written: " + error, error);
        }
    }
}
