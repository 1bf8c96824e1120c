package lunar.rdma.posix;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * A process of this machine. Its start time distinguishes it from a later process with the same number.
 *
 * @param number process id
 * @param startTicks time of its start, in clock ticks since boot
 */
public record ProcessIdentity(int number, long startTicks) {
    private static final int STATE = 0;
    private static final int THREADS = 17;
    private static final int START_TIME = 19;

    /**
     * Returns a process that exists.
     *
     * @throws NoSuchFileException if there is none with this number
     */
    public static ProcessIdentity of(int number) throws IOException {
        return new ProcessIdentity(number, startTicks(fields(number)));
    }

    /** Fields of proc_pid_stat(5), from the state on, which follows the name in parentheses. */
    private static String[] fields(int number) throws IOException {
        String line = Files.readString(folder(number).resolve("stat"),
                StandardCharsets.ISO_8859_1);
        return line.substring(line.lastIndexOf(')') + 2).split(" ");
    }

    private static long startTicks(String[] fields) { return Long.parseLong(fields[START_TIME]); }

    private static Path folder(int number) { return Path.of("/proc", Integer.toString(number)); }

    /** Whether one of its threads may still run. */
    public boolean isRunning() {
        try {
            String[] fields = fields(number);
            // The first thread is a zombie until the last one has ended and the parent has noticed that.
            return startTicks(fields) == startTicks
                    && (!fields[STATE].equals("Z") || !fields[THREADS].equals("1"));
        } catch (IOException e) {
            return Files.exists(folder(number)); // it may have ended while its file was read
        }
    }

    /** Whether it has ended, and another process has its number. */
    public boolean isReplaced() {
        try {
            return startTicks(fields(number)) != startTicks;
        } catch (IOException e) {
            return Files.exists(folder(number));
        }
    }
}
