package lunar.bench.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Samples the processor time of two processes and of the machine during a measurement (proc(5): /proc/PID/stat and
 * /proc/stat), so that a steady window can be evaluated afterwards.
 */
public final class CpuSampler implements AutoCloseable {
    /** USER_HZ, which the kernel has fixed for this interface on all its usual architectures. */
    private static final double TICKS_PER_SECOND = 100;
    private static final int PERIOD_MS = 50;
    /** How many periods tell whether the server is busy. */
    private static final int BUSY_SAMPLES = 4;
    /** Fields after the command's name, which may itself hold blanks: state is number 0. */
    private static final int UTIME = 11;
    private static final int STIME = 12;

    /** Processor seconds since some start: of the server, of the client, of all the machine. */
    private record Sample(long atNs, double server, double client, double machine) {}

    /** Cores busy on average with the server, the client, and all else. */
    public record Cores(double server, double client, double others) {}

    private final long serverPid;
    private final long clientPid;
    private final List<Sample> samples = new ArrayList<>();
    private final CountDownLatch stop = new CountDownLatch(1);
    private final Thread thread;

    public CpuSampler(long serverPid, long clientPid) {
        this.serverPid = serverPid;
        this.clientPid = clientPid;
        thread = Thread.ofPlatform().name("cpu-sampler").start(this::run);
    }

    private void run() {
        try {
            do {
                samples.add(new Sample(System.nanoTime(), process(serverPid), process(clientPid),
                        machine()));
            } while (!stop.await(PERIOD_MS, TimeUnit.MILLISECONDS));
        } catch (NoSuchFileException _) {
            // The client has ended: so has the measurement.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Processor seconds of a process since its start. */
    static double process(long pid) throws IOException {
        String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        return (Long.parseLong(fields[UTIME]) + Long.parseLong(fields[STIME])) / TICKS_PER_SECOND;
    }

    /** User, nice, system, interrupts and stolen time, of all cores. */
    private static double machine() throws IOException {
        try (var lines = Files.newBufferedReader(Path.of("/proc/stat"))) {
            String[] cpu = String.valueOf(lines.readLine()).split(" +", -1);
            long ticks = 0;
            for (int field : new int[]{1, 2, 3, 6, 7, 8}) {
                ticks += Long.parseLong(cpu[field]);
            }
            return ticks / TICKS_PER_SECOND;
        }
    }

    /**
     * The cores used from {@code seconds + margin} before the server's last busy moment to {@code margin} before it.
     * The client's end would not do: a client takes a while to log out and to end.
     */
    public Cores window(double seconds, double margin) throws BenchException {
        long endNs = lastBusyNs();
        return between(endNs - (long) ((seconds + margin) * 1e9), endNs - (long) (margin * 1e9));
    }

    /** The cores used between two times of {@link System#nanoTime()}, in which both ends did nothing but work. */
    public Cores between(long fromNs, long toNs) throws BenchException {
        Sample from = at(fromNs);
        Sample to = samples.reversed().stream().filter(sample -> sample.atNs <= toNs).findFirst()
                .orElse(from);
        if (to.atNs <= from.atNs) {
            throw new BenchException("the measurement ended before its time");
        }
        double time = (to.atNs - from.atNs) / 1e9;
        double server = (to.server - from.server) / time;
        double client = (to.client - from.client) / time;
        return new Cores(server, client,
                Math.max(0, (to.machine - from.machine) / time - server - client));
    }

    private long lastBusyNs() throws BenchException {
        int last = samples.size() - 1;
        double mean = rate(0, last);
        for (int i = last; i >= BUSY_SAMPLES; i--) {
            if (rate(i - BUSY_SAMPLES, i) > mean / 2) {
                return samples.get(i).atNs;
            }
        }
        throw new BenchException("the measurement ended before its time");
    }

    private double rate(int from, int to) {
        double time = (samples.get(to).atNs - samples.get(from).atNs) / 1e9;
        return (samples.get(to).server - samples.get(from).server) / Math.max(time, 1e-9);
    }

    private Sample at(long ns) throws BenchException {
        return samples.stream().filter(sample -> sample.atNs >= ns).findFirst()
                .orElseThrow(() -> new BenchException("the measurement ended before its time"));
    }

    /** Ends the watching; only then {@link #window}. */
    @Override
    public void close() {
        stop.countDown();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
