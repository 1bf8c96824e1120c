package lunar.it.fuzz;

import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Resources that the idle process holds. */
record Figures(long heapBytes, long directBytes, long residentBytes, Set<String> threads) {
    private static final int TRIES = 12;
    private static final long BETWEEN_MS = 500;
    private static final long MIB = 1 << 20;

    /**
     * Allowed growth between the first tenth and the end: code compiled later; pools that fill up to their bound, which
     * is half of the server's buffers and 16 MiB of output. In a run of a million, a leak of 8 bytes of heap for each
     * stream exceeds it, and one of a buffer for every hundredth. Resident memory is compared with that after a half:
     * malloc keeps what buffers beyond the pools have given back, up to the most that was ever in use.
     */
    private static final long HEAP_MARGIN = 6 * MIB;
    private static final long DIRECT_MARGIN = 48 * MIB;
    private static final long RESIDENT_MARGIN = 64 * MIB;

    /** The least of some measurements after a collection: ended connections linger for two seconds. */
    static Figures measure() throws InterruptedException, IOException {
        long heap = Long.MAX_VALUE;
        long direct = Long.MAX_VALUE;
        for (int i = 0; i < TRIES; i++) {
            System.gc();
            Thread.sleep(BETWEEN_MS);
            heap = Math.min(heap,
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
            direct = Math.min(direct, ManagementFactory
                    .getPlatformMXBeans(BufferPoolMXBean.class).stream()
                    .filter(pool -> pool.getName().equals("direct"))
                    .mapToLong(BufferPoolMXBean::getMemoryUsed).sum());
        }
        Set<String> threads = Thread.getAllStackTraces().keySet().stream().map(Thread::getName)
                .collect(Collectors.toCollection(TreeSet::new));
        return new Figures(heap, direct, resident(), threads);
    }

    private static long resident() throws IOException {
        Path status = Path.of("/proc/self/status");
        if (!Files.exists(status)) {
            return 0;
        }
        for (String line : Files.readAllLines(status)) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
            }
        }
        return 0;
    }

    /** Returns the figures that have grown since, except resident memory. */
    List<String> growthSince(Figures before) {
        var grown = new ArrayList<String>();
        growth("heap", before.heapBytes, heapBytes, HEAP_MARGIN).ifPresent(grown::add);
        growth("direct memory", before.directBytes, directBytes, DIRECT_MARGIN)
                .ifPresent(grown::add);
        var more = new TreeSet<>(threads);
        more.removeAll(before.threads);
        // The JDK starts the carriers of virtual threads (ForkJoinPool-1) and the workers of the common pool, which
        // run the timeouts of CompletableFuture, when they are needed. Their number is bounded by that of processors,
        // and an idle worker ends after a minute, so another has a new name.
        more.removeIf(name -> name.matches("C[12] CompilerThread.*|process reaper.*|.*Attach.*"
                + "|ForkJoinPool-1-worker.*|ForkJoinPool\\.commonPool-worker.*"));
        if (!more.isEmpty()) {
            grown.add("threads " + more);
        }
        return grown;
    }

    /** By how much resident memory has grown, if it is too much. */
    Optional<String> residentGrowthSince(Figures before) {
        return growth("resident memory", before.residentBytes, residentBytes, RESIDENT_MARGIN);
    }

    private static Optional<String> growth(String what, long before, long now, long margin) {
        return now <= before + margin
                ? Optional.empty()
                : Optional.of(String.format("%s from %.1f to %.1f MiB, %d MiB are allowed", what,
                        (double) before / MIB, (double) now / MIB, margin / MIB));
    }

    @Override
    public String toString() {
        return String.format("heap %.1f MiB, direct %.1f MiB, resident %.1f MiB, %d threads",
                (double) heapBytes / MIB, (double) directBytes / MIB, (double) residentBytes / MIB,
                threads.size());
    }
}
