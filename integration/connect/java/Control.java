package rebalancecheck.connect;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;

/**
 * Whether an operation blocks or fails, as files in the folder of the system property {@code rebalancecheck.control}
 * say.
 *
 * <p>{@code block.poll.s-0} blocks the poll of task s-0 in every worker, {@code fail.start.s@w1} lets connector s fail
 * to start in worker w1 only. What is blocked goes on when the file is gone; an interruption does not end it.
 */
final class Control {
    private static final Path FOLDER = Paths.get(System.getProperty("rebalancecheck.control"));
    private static final String WORKER = System.getProperty("rebalancecheck.worker");
    private static final long CHECK_MS = 20;

    private Control() {}

    /** Return when the operation is not, or no longer, blocked; throw when it must fail. */
    static void pass(String operation, String item) {
        boolean interrupted = false;
        boolean noted = false;
        while (asked("block", operation, item)) {
            if (!noted) {
                noted = true;
                Journal.write(Journal.BLOCKED, item, 0);
            }
            try {
                Thread.sleep(CHECK_MS);
            } catch (InterruptedException ignored) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (asked("fail", operation, item)) {
            throw new IllegalStateException(
                operation + " of " + item + " fails because a file in " + FOLDER + " asks for it");
        }
    }

    private static boolean asked(String what, String operation, String item) {
        String name = what + "." + operation + "." + item;
        return Files.exists(FOLDER.resolve(name)) || Files.exists(FOLDER.resolve(name + "@" + WORKER));
    }
}
