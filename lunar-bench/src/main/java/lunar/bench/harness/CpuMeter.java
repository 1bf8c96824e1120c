package lunar.bench.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/** Measures the number of cores that some processes used within an interval, independent of other load. */
public final class CpuMeter {
    private record Moment(long ns, double cpuSeconds) {}

    private final List<Long> pids;
    private Moment from;
    private Moment to;

    public CpuMeter(List<Long> pids) {
        this.pids = List.copyOf(pids);
        from = now();
        to = from;
    }

    private Moment now() {
        try {
            double seconds = 0;
            for (long pid : pids) {
                seconds += CpuSampler.process(pid);
            }
            return new Moment(System.nanoTime(), seconds);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Another moment: from the last one to this one is what counts. */
    public void mark() {
        from = to;
        to = now();
    }

    public double cores() { return (to.cpuSeconds - from.cpuSeconds) / ((to.ns - from.ns) / 1e9); }
}
