package rebalancecheck.connect;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What really runs in this worker: a line for each start and end of a connector or task, and where one blocks, in the
 * file that the system property {@code rebalancecheck.journal} names. Neither the REST interface nor the status topic
 * shows that a task runs in two workers; these lines do.
 *
 * <p>A line is the nanoseconds of the machine's monotonic clock, what happened, the connector or task, and a number
 * that is another one for each object that was started; tabs in between. Each line is one write.
 */
final class Journal {
    static final String STARTED = "started";
    static final String STOPPED = "stopped";
    static final String BLOCKED = "blocked";

    private static final Path FILE = Paths.get(System.getProperty("rebalancecheck.journal"));
    private static final AtomicInteger INCARNATIONS = new AtomicInteger();

    private Journal() {}

    /** The number of one more object. */
    static int incarnation() {
        return INCARNATIONS.incrementAndGet();
    }

    /** Append a line. */
    static synchronized void write(String what, String item, int incarnation) {
        String line = System.nanoTime() + "\t" + what + "\t" + item + "\t" + incarnation + "\n";
        try {
            byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
            Files.write(FILE, bytes, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException error) {
            throw new IllegalStateException("the journal " + FILE + " cannot be written: " + error, error);
        }
    }
}
