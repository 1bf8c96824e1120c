package lunar.cli.bench;

import lunar.cli.command.Failure;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import lunar.block.BlockDevice;
import lunar.block.StorageException;
import org.HdrHistogram.Histogram;

/** Runs a workload on several devices concurrently and measures it. */
public final class Bench {
    private static final long SEED = 42;
    private static final long LOOK_NS = 100_000_000;

    /**
     * Result of a bench.
     *
     * @param devices each device by itself
     * @param total all together
     * @param seconds duration of the measurement, shorter than wanted if it was stopped
     * @param cpuMicrosecondsPerOperation processor time of this process, of both ends where the target is in it
     */
    public record Result(List<Figures> devices, Figures total, double seconds,
            double cpuMicrosecondsPerOperation) {}

    private final Workload work;
    private final long rangeBytes;
    private final Map<String, BlockDevice> devices = new LinkedHashMap<>();
    private final CountDownLatch stop = new CountDownLatch(1);

    /** @param rangeBytes how much of each device is used, 0 for all of it */
    public Bench(Workload work, long rangeBytes) {
        this.work = work;
        this.rangeBytes = rangeBytes;
    }

    /** Measures a device too, under a name that tells it from the others. */
    public Bench add(String name, BlockDevice device) {
        devices.put(devices.containsKey(name) ? name + " #" + (devices.size() + 1) : name, device);
        return this;
    }

    /** Ends a measurement early, from any thread; {@link #run} then returns what was measured until now. */
    public void stop() {
        stop.countDown();
    }

    /** Measures until the time is over or {@link #stop} is called. */
    public Result run() throws StorageException, Failure, InterruptedException {
        return run(_ -> {});
    }

    /**
     * Measures until the time is over or {@link #stop} is called.
     *
     * @param elapsedNs gets the time that has been measured, several times a second
     */
    public Result run(LongConsumer elapsedNs)
            throws StorageException, Failure, InterruptedException {
        var loads = new LinkedHashMap<String, List<Load>>();
        devices.forEach((name, device) -> loads.put(name, loads(name, device)));
        List<Load> all = loads.values().stream().flatMap(List::stream).toList();
        var ready = new CountDownLatch(all.size());
        var start = new CompletableFuture<Long>();
        var threads = new ArrayList<Thread>();
        for (Load load : all) {
            threads.add(Thread.ofPlatform().name("lunar-bench-" + threads.size()).daemon()
                    .start(() -> {
                        ready.countDown();
                        load.start(start.join());
                    }));
        }
        ready.await();
        long startNs = System.nanoTime();
        start.complete(startNs);
        awaitEnd(all, startNs + work.rampNs(), _ -> {});
        long cpuFromNs = cpuNs();
        awaitEnd(all, startNs + work.rampNs() + work.timeNs(), elapsedNs);
        boolean ended = true;
        for (Load load : all) {
            ended &= load.await();
        }
        long measuredNs = Math.min(System.nanoTime() - startNs - work.rampNs(), work.timeNs());
        long cpuSpentNs = cpuNs() - cpuFromNs;
        for (Thread thread : threads) {
            thread.join(TimeUnit.SECONDS.toMillis(1));
        }
        if (!ended) {
            throw new Failure("a device does not respond; the benchmark was aborted");
        }
        all.forEach(Load::close);
        for (Load load : all) {
            load.throwFailure();
        }
        return result(loads, Math.max(measuredNs, 0) / 1e9, cpuSpentNs);
    }

    /** Waits until this time, until the loads have ended because a device failed, or until they were stopped. */
    private void awaitEnd(List<Load> all, long endNs, LongConsumer elapsedNs)
            throws InterruptedException {
        long left = endNs - System.nanoTime();
        while (left > 0 && !all.stream().allMatch(Load::isEnded)) {
            if (stop.await(Math.min(left, LOOK_NS), TimeUnit.NANOSECONDS)) {
                all.forEach(Load::stop);
                return;
            }
            left = endNs - System.nanoTime();
            elapsedNs.accept(work.timeNs() - Math.max(left, 0));
        }
    }

    private List<Load> loads(String name, BlockDevice device) {
        long range = rangeBytes == 0
                ? device.sizeBytes()
                : Math.min(rangeBytes, device.sizeBytes());
        var list = new ArrayList<Load>();
        for (int i = 0; i < work.loads(); i++) {
            list.add(new Load(device, work, range, SEED + name.hashCode() + 1000L * i,
                    (double) i / work.loads()));
        }
        return list;
    }

    private Result result(Map<String, List<Load>> loads, double seconds, long cpuSpentNs)
            throws Failure {
        Histogram allReads = Load.histogram();
        Histogram allWrites = Load.histogram();
        var figures = new ArrayList<Figures>();
        loads.forEach((name, list) -> {
            Histogram reads = Load.histogram();
            Histogram writes = Load.histogram();
            list.forEach(load -> load.addTo(reads, writes));
            allReads.add(reads);
            allWrites.add(writes);
            figures.add(new Figures(name, reads, writes, work.requestBytes(), seconds));
        });
        var total = new Figures("total", allReads, allWrites, work.requestBytes(), seconds);
        if (total.operations() == 0) {
            throw new Failure("no request was completed in the "
                    + String.format(Locale.ROOT, "%.1f s", seconds)
                    + " of the measurement; measure for longer with --time");
        }
        return new Result(figures, total, seconds, cpuSpentNs / 1e3 / total.operations());
    }

    private static long cpuNs() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class)
                .getProcessCpuTime();
    }
}
