package lunar.bench.load;

import lunar.bench.harness.Pair;
import lunar.bench.harness.Work;

/**
 * Order to a {@link LoadAgent}; a line of JSON.
 *
 * @param uri of the LUN
 * @param lunBytes used part of the LUN
 * @param sessions number of concurrent, independent sessions
 * @param rampMs warm-up time
 * @param countMs measured time
 */
public record LoadOrder(String uri, long lunBytes, Work work, int sessions, Pair.Terms terms,
        int rampMs, int countMs) {
    private static final long NANOS_PER_MS = 1_000_000;

    /** The time that is counted, when the work begins now. */
    Window window() {
        long fromNs = System.nanoTime() + rampMs * NANOS_PER_MS;
        return new Window(fromNs, fromNs + countMs * NANOS_PER_MS);
    }

    /**
     * When requests are counted: those that end in it are. {@link System#nanoTime()}, which all processes of a Linux
     * machine have in common (CLOCK_MONOTONIC).
     */
    record Window(long fromNs, long toNs) {
        boolean holds(long ns) { return ns - fromNs >= 0 && ns - toNs < 0; }

        boolean isOver(long ns) { return ns - toNs >= 0; }

        double seconds() { return (toNs - fromNs) / 1e9; }
    }
}
