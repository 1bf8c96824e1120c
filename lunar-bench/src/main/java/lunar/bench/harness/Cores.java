package lunar.bench.harness;

import java.nio.file.Path;
import java.util.List;

/** Processor cores that a process may use (taskset). */
public final class Cores {
    private static final int TOOL_SECONDS = 10;

    /** Cores that this process may use. */
    public static final String ALL = allowed();

    private Cores() {}

    private static String allowed() {
        try {
            return Processes.read(Path.of("/proc/self/status")).lines()
                    .filter(line -> line.startsWith("Cpus_allowed_list:")).findFirst().orElseThrow()
                    .split(":", 2)[1].strip();
        } catch (BenchException e) {
            throw new IllegalStateException(e);
        }
    }

    public static String first() { return ALL.split("[,-]", 2)[0]; }

    public static String last() {
        return ALL.substring(ALL.lastIndexOf(',') + 1).replaceFirst(".*-", "");
    }

    /** All threads of a process, and those that they start. */
    public static void bind(long pid, String cores) throws BenchException, InterruptedException {
        Processes.run(Path.of("/dev/null"), TOOL_SECONDS,
                List.of("taskset", "-a", "-c", "-p", cores, "" + pid));
    }
}
