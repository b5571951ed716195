package rebalancecheck.recorder;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A history on disk: JSON lines, one event a line, each in the system's hands when {@link #append} returns. A file that
 * is there is gone on with: what a killed process left of its last line goes, and the numbers of a source follow its
 * last.
 */
final class HistoryFile {
    private static final String TEXT = "(\"(?:[^\"\\\\]|\\\\.)*\")";
    private static final Pattern BEGIN = Pattern.compile(
            "^\\{\"event\":\"\\w+\",\"group\":" + TEXT + ",\"source\":" + TEXT + ",\"seq\":(\\d+),");

    private final RandomAccessFile file;
    private final Map<String, Long> next = new HashMap<>();

    /** Opens the file, and makes its folder; throws IOException when that fails, or another recorder writes it. */
    HistoryFile(String path) throws IOException {
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
        boolean isMine;
        try {
            isMine = file.getChannel().tryLock() != null;
        } catch (OverlappingFileLockException inThisProcess) {
            isMine = false;
        }
        if (!isMine) {
            throw new IOException(path + " is being written by another recorder: give each consumer a file of its own");
        }
    }

    private void goOn() throws IOException {
        byte[] all = new byte[(int) file.length()];
        file.readFully(all);
        int end = all.length;
        while (end > 0 && all[end - 1] != '\n') end--;
        file.setLength(end);
        file.seek(end);
        for (String line : new String(all, 0, end, StandardCharsets.UTF_8).split("\n")) {
            Matcher begin = BEGIN.matcher(line);
            if (begin.find()) next.put(begin.group(1) + begin.group(2), Long.parseLong(begin.group(3)) + 1);
        }
    }

    /** The number of the next event of a source; both names as they stand in JSON, with their quotes. */
    synchronized long nextNumber(String group, String source) {
        return next.getOrDefault(group + source, 0L);
    }

    /** Appends one line, in one write. */
    synchronized void append(String line) throws IOException {
        file.write((line + "\n").getBytes(StandardCharsets.UTF_8));
    }

    synchronized void close() throws IOException {
        file.close();
    }
}
