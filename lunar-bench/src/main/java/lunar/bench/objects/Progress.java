package lunar.bench.objects;

import java.io.PrintStream;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Prints how far work is, at which rate, and the time left; keeps the time and memory at each tenth. */
final class Progress {
    private static final int TENTHS = 10;
    private static final double PRINT_SECONDS = 10;
    private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

    private final PrintStream out;
    private final long count;
    private final long start = System.nanoTime();
    private final double[] seconds = new double[TENTHS + 1];
    private final long[] done = new long[TENTHS + 1];
    private final double[] residentMib = new double[TENTHS + 1];
    private int tenth;
    private double printedAt;
    private long printed;

    Progress(PrintStream out, long count) {
        this.out = out;
        this.count = count;
    }

    /** Records progress. */
    void at(long now, double resident) {
        double time = (System.nanoTime() - start) / NANOS_PER_SECOND;
        if (now == 0) {
            seconds[0] = time; // the store was being opened
            return;
        }
        while (tenth < TENTHS && now >= count / TENTHS * (tenth + 1)) {
            tenth++;
            seconds[tenth] = time;
            done[tenth] = now;
            residentMib[tenth] = resident;
        }
        if (time - printedAt >= PRINT_SECONDS || now == count) {
            double rate = (now - printed) / (time - printedAt);
            out.println(String.format(Locale.ROOT,
                    "%,d of %,d objects, %,.0f/s, %,.0f MiB resident, %,.0f s left", now, count,
                    rate, resident, (count - now) / Math.max(1, rate)));
            printedAt = time;
            printed = now;
        }
    }

    /** Returns objects per second between two tenths. */
    double rate(int from, int to) {
        return (done[to] - done[from]) / (seconds[to] - seconds[from]);
    }

    double residentMib(int after) { return residentMib[after]; }
}
