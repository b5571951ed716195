package rebalancecheck;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.server.util.timer.TimerTask;

/** Commands of the driver that are no requests: words, the first of which says what to do. */
final class Controls {
    private Controls() { }

    /** The settings in {@code seed=7 topic:t=3 group.max.size=2}. */
    static Environment.Settings settings(String[] words) {
        long seed = 0;
        Map<String, Integer> topics = new TreeMap<>();
        Map<String, String> broker = new TreeMap<>();
        for (int i = 1; i < words.length; i++) {
            int equals = words[i].indexOf('=');
            String name = words[i].substring(0, equals);
            String value = words[i].substring(equals + 1);
            if (name.equals("seed")) {
                seed = Long.parseLong(value);
            } else if (name.startsWith("topic:")) {
                topics.put(name.substring("topic:".length()), Integer.parseInt(value));
            } else {
                broker.put(name, value);
            }
        }
        return new Environment.Settings(seed, topics, broker);
    }

    /** Do what the words say, at one node; the answer, empty where there is nothing to tell. */
    static String perform(Environment environment, int id, String[] words) {
        VirtualTime time = environment.time;
        switch (words[0]) {
            case "give" -> environment.give(words[1]);
            case "advance" -> time.advance(Long.parseLong(words[1]));
            case "step" -> {
                return time.step() ? "fired" : "";
            }
            case "session" -> fire(environment, id, environment.node(id).sessionKey(words[1], words[2]));
            case "join" -> fire(environment, id, environment.node(id).joinKey(words[1]));
            case "sync" -> fire(environment, id, environment.node(id).syncKey(words[1]));
            case "timers" -> {
                return timers(environment, environment.node(id));
            }
            case "deadline" -> {
                return time.nextDeadlineMs() < 0 ? "" : String.valueOf(time.nextDeadlineMs() - VirtualTime.START_MS);
            }
            case "pending" -> {
                return environment.pending();
            }
            case "journal" -> {
                return environment.node(id).journalText();
            }
            case "end-transaction" -> {
                return endTransaction(
                    environment, environment.node(id), Long.parseLong(words[1]), words[2].equals("commit"));
            }
            default -> fault(environment, id, words);
        }
        return "";
    }

    /** The name of the error that the marker was answered with; empty while the log withholds the outcome. */
    private static String endTransaction(Environment environment, Node node, long producer, boolean committed) {
        CompletableFuture<Void> ended = node.endTransaction(
            producer, committed ? TransactionResult.COMMIT : TransactionResult.ABORT);
        environment.time.settle();
        if (!ended.isDone()) {
            return "";
        }
        return ended.handle((nothing, error) ->
            error == null ? Errors.NONE : Errors.forException(Errors.maybeUnwrapException(error))).join().name();
    }

    private static void fire(Environment environment, int id, String key) {
        TimerTask task = environment.node(id).runningTimers().get(key);
        if (task == null) {
            throw new IllegalArgumentException("no timer " + key + " runs");
        }
        environment.time.fire(task);
    }

    private static String timers(Environment environment, Node node) {
        StringBuilder text = new StringBuilder();
        new TreeMap<>(node.runningTimers()).forEach((key, task) ->
            text.append(key).append(' ').append(environment.time.deadlineMs(task)).append('\n'));
        return text.toString();
    }

    private static void fault(Environment environment, int id, String[] words) {
        switch (words[0]) {
            case "acknowledge" -> environment.node(id).acknowledge(words[1].equals("on"));
            case "commit" -> environment.node(id).highWatermark(Long.parseLong(words[1]));
            case "fail" -> environment.node(id).failure = words.length > 1 ? Errors.valueOf(words[1]) : null;
            case "crash" -> environment.node(id).crash();
            case "resign" -> environment.node(id).resign(Integer.parseInt(words[1]));
            case "elect" -> environment.node(id).elect(Integer.parseInt(words[1]));
            case "replica" -> environment.start(id).journal = environment.node(Integer.parseInt(words[1])).journal
                .replica(Long.parseLong(words[2]), words[3].equals("unclean"));
            case "hold-load" -> environment.node(id).holdingLoad = true;
            case "release-load" -> environment.node(id).releaseLoad();
            default -> throw new IllegalArgumentException("unknown command " + words[0]);
        }
        environment.time.settle();
    }
}
