package rebalancecheck.recorder;

import java.io.IOException;
import java.util.Collection;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Records the events of one member, numbered without a gap. A disk that refuses one does not stop the application. */
final class MemberRecorder {
    private static final Logger LOG = LoggerFactory.getLogger(MemberRecorder.class);

    private final HistoryFile file;
    private final String group;
    private final String member;
    private long next;

    MemberRecorder(HistoryFile file, String group, String member) {
        this.file = file;
        this.group = quoted(group);
        this.member = quoted(member);
        this.next = file.nextNumber(this.group, this.member);
    }

    /** Records an event; {@code fields} is the rest of its JSON object, each with a comma before it. */
    synchronized void emit(String event, String fields) {
        long now = TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
        String line = "{\"event\":\"" + event + "\",\"group\":" + group + ",\"source\":" + member + ",\"seq\":" + next++
                + ",\"time_ms\":" + now + ",\"member\":" + member + fields + "}";
        try {
            file.append(line);
        } catch (IOException fault) {
            LOG.warn("an event is not recorded: {}", line, fault);
        }
    }

    void close() {
        try {
            file.close();
        } catch (IOException fault) {
            LOG.warn("the history cannot be closed", fault);
        }
    }

    /** A field with a text. */
    static String text(String name, String value) {
        return "," + quoted(name) + ":" + quoted(value);
    }

    /** A field with a number. */
    static String number(String name, long value) {
        return "," + quoted(name) + ":" + value;
    }

    /** A field with a list of texts. */
    static String texts(String name, Iterable<String> values) {
        StringBuilder list = new StringBuilder();
        for (String value : values) list.append(list.length() == 0 ? "" : ",").append(quoted(value));
        return "," + quoted(name) + ":[" + list + "]";
    }

    /** A field with the names of partitions, sorted. */
    static String partitions(String name, Collection<TopicPartition> partitions) {
        TreeSet<String> names = new TreeSet<>();
        for (TopicPartition partition : partitions) names.add(partition.toString());
        return texts(name, names);
    }

    /** A text as JSON has it. */
    static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int at = 0; at < text.length(); at++) {
            char one = text.charAt(at);
            if (one == '"' || one == '\\') quoted.append('\\').append(one);
            else if (one < ' ') quoted.append(String.format("\\u%04x", (int) one));
            else quoted.append(one);
        }
        return quoted.append('"').toString();
    }
}
