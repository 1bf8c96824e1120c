package lunar.cli.log;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Where the standard error stream of this process goes. */
public enum StandardError {
    /** To a person, who sees lines as they come. */
    TERMINAL,
    /** To journald, which keeps the time and takes the priority from a prefix (sd-daemon(3)). */
    JOURNAL,
    /** To a file or a program, which keep nothing but the text. */
    FILE;

    private static final Path DESCRIPTOR = Path.of("/proc/self/fd/2");

    /** Finds out where it goes. */
    public static StandardError now() {
        return of(System.getenv("JOURNAL_STREAM"), DESCRIPTOR);
    }

    /**
     * Finds out where a stream goes.
     *
     * @param journal {@code $JOURNAL_STREAM}, the device and inode numbers of the stream that systemd has connected
     *        (systemd.exec(5)); inherited by processes whose streams may be others
     * @param descriptor the link of the stream in /proc
     */
    static StandardError of(@Nullable String journal, Path descriptor) {
        try {
            if (journal != null) {
                var file = Files.readAttributes(descriptor, "unix:dev,ino");
                if (journal.equals(file.get("dev") + ":" + file.get("ino"))) {
                    return JOURNAL;
                }
            }
            String target = Files.readSymbolicLink(descriptor).toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty")
                    || target.equals("/dev/console") ? TERMINAL : FILE;
        } catch (IOException | UnsupportedOperationException _) {
            return isConsole() ? TERMINAL : FILE; // not Linux
        }
    }

    /** Returns the prefix of a line of an error: its priority, for journald. */
    public String errorPrefix() {
        return prefix(PriorityConverter.ERROR);
    }

    /** Returns the prefix of a line of a warning: its priority, for journald. */
    public String warningPrefix() {
        return prefix(PriorityConverter.WARNING);
    }

    /** Returns a priority for journald; empty where that does not read the stream. */
    String prefix(int priority) {
        return this == JOURNAL ? "<" + priority + ">" : "";
    }

    @SuppressWarnings("SystemConsoleNull") // that of JDK 25 is null again where there is no terminal
    private static boolean isConsole() {
        var console = System.console();
        return console != null && console.isTerminal();
    }
}
