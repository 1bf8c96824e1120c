package lunar.cli.bench;

import lunar.cli.command.Failure;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockDevice;
import lunar.block.StorageException;
import org.HdrHistogram.Histogram;

/** Runs a workload on several devices concurrently and measures it. */
public final class Bench {
    private static final long SEED = 42;

    /**
     * Result of a bench.
     *
     * @param devices each device by itself
     * @param total all together
     * @param cpuMicrosecondsPerOperation processor time of this process, of both ends where the target is in it
     */
    public record Result(List<Figures> devices, Figures total,
            double cpuMicrosecondsPerOperation) {}

    private final Workload work;
    private final long rangeBytes;
    private final Map<String, BlockDevice> devices = new LinkedHashMap<>();

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

    public Result run() throws StorageException, Failure, InterruptedException {
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
        start.complete(System.nanoTime());
        TimeUnit.NANOSECONDS.sleep(work.rampNs());
        long cpuFromNs = cpuNs();
        boolean ended = true;
        for (Load load : all) {
            ended &= load.await();
        }
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
        return result(loads, cpuSpentNs);
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

    private Result result(Map<String, List<Load>> loads, long cpuSpentNs) {
        double seconds = work.timeNs() / 1e9;
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
        return new Result(figures, total, cpuSpentNs / 1e3 / Math.max(1, total.operations()));
    }

    private static long cpuNs() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class)
                .getProcessCpuTime();
    }
}
