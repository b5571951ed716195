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
    static World.Settings settings(String[] words) {
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
        return new World.Settings(seed, topics, broker);
    }

    /** Do what the words say, at one node; the answer, empty where there is nothing to tell. */
    static String perform(World world, int id, String[] words) {
        VirtualTime time = world.time;
        switch (words[0]) {
            case "give" -> world.give(words[1]);
            case "advance" -> time.advance(Long.parseLong(words[1]));
            case "step" -> {
                return time.step() ? "fired" : "";
            }
            case "session" -> fire(world, id, world.node(id).sessionKey(words[1], words[2]));
            case "join" -> fire(world, id, world.node(id).joinKey(words[1]));
            case "sync" -> fire(world, id, world.node(id).syncKey(words[1]));
            case "timers" -> {
                return timers(world, world.node(id));
            }
            case "deadline" -> {
                return time.nextDeadlineMs() < 0 ? "" : String.valueOf(time.nextDeadlineMs() - VirtualTime.START_MS);
            }
            case "pending" -> {
                return world.pending();
            }
            case "journal" -> {
                return world.node(id).journalText();
            }
            case "end-transaction" -> {
                return endTransaction(world, world.node(id), Long.parseLong(words[1]), words[2].equals("commit"));
            }
            default -> fault(world, id, words);
        }
        return "";
    }

    /** The name of the error that the marker was answered with; empty while the log withholds the outcome. */
    private static String endTransaction(World world, Node node, long producer, boolean committed) {
        CompletableFuture<Void> ended = node.endTransaction(
            producer, committed ? TransactionResult.COMMIT : TransactionResult.ABORT);
        world.time.settle();
        if (!ended.isDone()) {
            return "";
        }
        return ended.handle((nothing, error) ->
            error == null ? Errors.NONE : Errors.forException(Errors.maybeUnwrapException(error))).join().name();
    }

    private static void fire(World world, int id, String key) {
        TimerTask task = world.node(id).runningTimers().get(key);
        if (task == null) {
            throw new IllegalArgumentException("no timer " + key + " runs");
        }
        world.time.fire(task);
    }

    private static String timers(World world, Node node) {
        StringBuilder text = new StringBuilder();
        new TreeMap<>(node.runningTimers()).forEach((key, task) ->
            text.append(key).append(' ').append(world.time.deadlineMs(task)).append('\n'));
        return text.toString();
    }

    private static void fault(World world, int id, String[] words) {
        switch (words[0]) {
            case "acknowledge" -> world.node(id).acknowledge(words[1].equals("on"));
            case "commit" -> world.node(id).highWatermark(Long.parseLong(words[1]));
            case "fail" -> world.node(id).failure = words.length > 1 ? Errors.valueOf(words[1]) : null;
            case "crash" -> world.node(id).crash();
            case "resign" -> world.node(id).resign(Integer.parseInt(words[1]));
            case "elect" -> world.node(id).elect(Integer.parseInt(words[1]));
            case "replica" -> world.start(id).journal = world.node(Integer.parseInt(words[1])).journal
                .replica(Long.parseLong(words[2]), words[3].equals("unclean"));
            case "hold-load" -> world.node(id).holdingLoad = true;
            case "release-load" -> world.node(id).releaseLoad();
            default -> throw new IllegalArgumentException("unknown command " + words[0]);
        }
        world.time.settle();
    }
}
