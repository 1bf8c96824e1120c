package lunar.bench.harness;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Observes a server from outside: its process (proc(5)) and its JVM (jcmd). */
public final class ServerProbe {
    private static final int TOOL_SECONDS = 60;
    private static final int KIB = 1024;
    private static final Pattern LIVE = Pattern.compile("(?m)^Total +\\d+ +(\\d+)");
    /** Native memory besides that of the JVM itself: buffers. */
    private static final Pattern DIRECT = Pattern
            .compile("Other \\(reserved=\\d+KB, committed=(\\d+)KB");
    private static final Pattern RESIDENT = Pattern.compile("VmRSS:\\s+(\\d+) kB");
    private static final Pattern MOST_RESIDENT = Pattern.compile("VmHWM:\\s+(\\d+) kB");
    private static final Pattern THREADS = Pattern.compile("Threads:\\s+(\\d+)");

    /**
     * Resources in use at a moment.
     *
     * @param heapBytes of objects that are alive
     * @param directBytes of buffers outside the heap; those of memory devices count too
     * @param residentBytes of the process, with garbage that no collection has given back yet
     */
    public record Snapshot(long heapBytes, long directBytes, long residentBytes, long threads) {}

    private final long pid;
    private final Path directory;

    public ServerProbe(long pid, Path directory) {
        this.pid = pid;
        this.directory = directory;
    }

    /** Collects garbage, then takes a snapshot; writes the class histogram to a file of this name. */
    public Snapshot snapshot(String name) throws BenchException, InterruptedException {
        // Twice, since the first finds the buffers that the second releases.
        String _ = jcmd(directory.resolve("gc.txt"), "GC.run");
        Path histogram = directory.resolve(name + "-heap.txt");
        String living = jcmd(histogram, "GC.class_histogram");
        String status = read("status");
        return new Snapshot(number(LIVE, living), KIB * number(DIRECT, jcmd(
                directory.resolve(name + "-native.txt"), "VM.native_memory", "summary",
                "scale=KB")),
                KIB * number(RESIDENT, status), number(THREADS, status));
    }

    /** Memory of the process that is resident, in bytes. */
    public long residentBytes() throws BenchException {
        return KIB * number(RESIDENT, read("status"));
    }

    /** The most memory of the process that was resident, in bytes. */
    public long mostResidentBytes() throws BenchException {
        return KIB * number(MOST_RESIDENT, read("status"));
    }

    /** Processor seconds until now. */
    public double cpuSeconds() throws BenchException {
        try {
            return CpuSampler.process(pid);
        } catch (IOException e) {
            throw new BenchException("the server has ended", e);
        }
    }

    /** How many files a process may open. */
    public static long maxOpenFiles(String process) throws BenchException {
        return number(Pattern.compile("Max open files +(\\d+)"),
                Processes.read(Path.of("/proc/" + process + "/limits")));
    }

    private String read(String file) throws BenchException {
        return Processes.read(Path.of("/proc/" + pid + "/" + file));
    }

    private String jcmd(Path output, String... command)
            throws BenchException, InterruptedException {
        var line = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(), "" + pid));
        line.addAll(List.of(command));
        return Processes.run(output, TOOL_SECONDS, line);
    }

    private static long number(Pattern pattern, String text) throws BenchException {
        var matcher = pattern.matcher(text);
        if (!matcher.find()) {
            throw new BenchException("no " + pattern + " in: " + text);
        }
        return Long.parseLong(matcher.group(1));
    }
}
