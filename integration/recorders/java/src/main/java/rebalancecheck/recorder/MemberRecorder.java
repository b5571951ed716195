package rebalancecheck.recorder;

import java.io.*;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records the events of one member in a file: JSON lines, numbered without a gap, each in the system's hands when
 * {@link #emit} returns. A file that is there is gone on with: a killed process's unfinished last line goes, and
 * the numbers follow the last. A disk that refuses an event does not stop the application.
 */
final class MemberRecorder {
    private static final Logger LOG = LoggerFactory.getLogger(MemberRecorder.class);

    private final RandomAccessFile file;
    private final String names;
    private final String member;
    private long next;

    /** Opens the file, and makes its folder; throws IOException when that fails, or another recorder writes it. */
    MemberRecorder(String path, String group, String member) throws IOException {
        this.member = quoted(member);
        names = "\",\"group\":" + quoted(group) + ",\"source\":" + this.member + ",\"seq\":";
        File folder = new File(path).getAbsoluteFile().getParentFile();
        if (!folder.isDirectory() && !folder.mkdirs() && !folder.isDirectory()) {
            throw new IOException("the folder " + folder + " cannot be made: name another path");
        }
        file = new RandomAccessFile(path, "rw");
        try {
            lock(path);
            goOn();
        } catch (IOException | RuntimeException fault) {
            file.close();
            throw fault;
        }
    }

    private void lock(String path) throws IOException {
        try {
            if (file.getChannel().tryLock() != null) return;
        } catch (OverlappingFileLockException inThisProcess) { /* as in another one */ }
        throw new IOException(path + " is being written by another recorder: give each consumer a file of its own");
    }

    private void goOn() throws IOException {
        byte[] all = new byte[(int) file.length()];
        file.readFully(all);
        int end = all.length;
        while (end > 0 && all[end - 1] != '\n') end--;
        file.setLength(end);
        file.seek(end);
        Matcher begin = Pattern.compile("^\\{\"event\":\"\\w+" + Pattern.quote(names) + "(\\d+),", Pattern.MULTILINE)
                .matcher(new String(all, 0, end, StandardCharsets.UTF_8));
        while (begin.find()) next = Long.parseLong(begin.group(1)) + 1;
    }

    /** Records an event; {@code fields} is the rest of its JSON object, each with a comma before it. */
    synchronized void emit(String event, String fields) {
        long now = TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
        String line = "{\"event\":\"" + event + names + next++ + ",\"time_ms\":" + now + ",\"member\":" + member
                + fields + "}";
        try {
            file.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException fault) {
            LOG.warn("an event is not recorded: {}", line, fault);
        }
    }

    synchronized void close() {
        try {
            file.close();
        } catch (IOException fault) {
            LOG.warn("the history cannot be closed", fault);
        }
    }

    /** A field with a text. */
    static String text(String name, String value) { return "," + quoted(name) + ":" + quoted(value); }

    /** A field with a number. */
    static String number(String name, long value) { return "," + quoted(name) + ":" + value; }

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
        for (char one : text.toCharArray()) {
            if (one == '"' || one == '\\') quoted.append('\\').append(one);
            else if (one < ' ') quoted.append(String.format("\\u%04x", (int) one));
            else quoted.append(one);
        }
        return quoted.append('"').toString();
    }
}
