package lunar.it.faults;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Random;
import java.util.stream.Stream;

/**
 * Folder, seed, processes and proxies of a scenario; {@code close} ends them. Everything listens on free ports of the
 * loopback interface.
 */
final class Lab implements AutoCloseable {
    private final Path folder;
    private final long seed;
    private final Random random;
    private final PrintStream console;
    private final String name;
    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private boolean held;

    /** @param console gets a line for each fault; may be one that prints nothing */
    Lab(String name, Path folder, long seed, PrintStream console) throws IOException {
        this.name = name;
        this.folder = Files.createDirectories(folder);
        this.seed = seed;
        this.console = console;
        random = new Random(seed);
    }

    long seed() { return seed; }

    Random random() { return random; }

    Path path(String file) { return folder.resolve(file); }

    /** Between two numbers, both included. */
    int between(int least, int most) {
        return least + random.nextInt(most - least + 1);
    }

    void say(String what, Object... values) {
        console.println(name + ": " + what.formatted(values));
    }

    /** Closed at the end, the last one first. */
    <T extends AutoCloseable> T with(T part) {
        open.push(part);
        return part;
    }

    /** A command with its error stream in a file of the folder. */
    LunarProcess start(Map<String, String> environment, String err, String... words)
            throws IOException {
        return with(LunarProcess.start(List.of(), environment, path(err), Arrays.asList(words)));
    }

    /** A command that is to succeed; what it says. */
    String run(String... words) throws IOException, InterruptedException {
        return run(Set.of(0), words);
    }

    /** As {@link #run(String...)}, with the exit statuses that are no error. */
    String run(Set<Integer> statuses, String... words) throws IOException, InterruptedException {
        LunarProcess command = start(Map.of(), "command.err", words);
        String said = command.finish();
        if (!statuses.contains(command.status())) {
            throw new AssertionError(String.join(" ", words) + ": " + said + " "
                    + command.errors());
        }
        return said;
    }

    /** Closes all that was opened so far. */
    void stopAll() throws Exception {
        Exception first = null;
        while (!open.isEmpty()) {
            try {
                open.pop().close();
            } catch (Exception e) {
                first = first == null ? e : first;
            }
        }
        if (first != null) {
            throw first;
        }
    }

    /** Nothing was lost: the folder is deleted at the end, too. */
    void held() { held = true; }

    @Override
    public void close() throws Exception {
        stopAll();
        if (!held) {
            return;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
