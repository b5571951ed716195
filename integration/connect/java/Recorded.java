package rebalancecheck.connect;

/** One connector or task from its start to its end, in the journal; its operations pass the control. */
final class Recorded {
    final String item;
    private final int incarnation = Journal.incarnation();
    private boolean running;

    Recorded(String item) {
        this.item = item;
    }

    /** It runs from here on: also while its start blocks. A start that fails has ended. */
    synchronized void start() {
        running = true;
        Journal.write(Journal.STARTED, item, incarnation);
        try {
            Control.pass("start", item);
        } catch (RuntimeException error) {
            end();
            throw error;
        }
    }

    /** It runs until here: also while its stop blocks, and if that fails. */
    void stop() {
        try {
            Control.pass("stop", item);
        } finally {
            end();
        }
    }

    private synchronized void end() {
        if (running) {
            running = false;
            Journal.write(Journal.STOPPED, item, incarnation);
        }
    }
}
