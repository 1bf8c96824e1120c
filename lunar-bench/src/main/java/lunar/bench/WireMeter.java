package lunar.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the machine's cores and its loopback interface did between two moments (proc(5): /proc/net/dev). */
final class WireMeter {
    private static final int BITS_PER_BYTE = 8;

    private record Moment(long ns, double cpuSeconds, long bytes) {}

    private Moment from = now();
    private Moment to = from;

    private static Moment now() {
        try {
            String line = Files.readAllLines(Path.of("/proc/net/dev")).stream().map(String::strip)
                    .filter(one -> one.startsWith("lo:")).findFirst()
                    .orElseThrow(() -> new IOException("no loopback interface"));
            long bytes = Long.parseLong(line.substring("lo:".length()).strip().split(" +", -1)[0]);
            return new Moment(System.nanoTime(), CpuSampler.machine(), bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Another moment: from the last one to this one is what counts. */
    void mark() {
        from = to;
        to = now();
    }

    private double seconds() { return (to.ns - from.ns) / 1e9; }

    double cores() { return (to.cpuSeconds - from.cpuSeconds) / seconds(); }

    double mbits() { return BITS_PER_BYTE * (to.bytes - from.bytes) / 1e6 / seconds(); }
}
