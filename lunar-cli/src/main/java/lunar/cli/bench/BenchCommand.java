package lunar.cli.bench;

import lunar.cli.command.Console;
import lunar.cli.command.DeviceCommand;
import lunar.cli.command.Failure;
import lunar.cli.command.Json;
import lunar.cli.command.ProgressBar;
import lunar.cli.command.SizeConverter;
import lunar.cli.command.TimeConverter;
import lunar.cli.config.ConfigOption;
import lunar.cli.config.NewFiles;
import lunar.cli.config.OpenDevices;

import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockDevice;
import lunar.block.DeviceUri;
import lunar.block.StorageException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lunar bench}: how fast devices are. */
@Command(name = "bench",
        description = "Measure devices: operations and megabytes per second, latencies and "
                + "processor time. Several devices are measured concurrently.",
        footer = {
                "",
                "A pattern that writes destroys data, and needs --force unless the device is memory or "
                        + "a file that it creates.",
                "", "Examples:",
                "  lunar bench iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0 --rw randread --bs 4k "
                        + "--qd 32 --time 10s",
                "  lunar bench 'file:new.img?size=1GiB' --rw randrw --rwmixread 70 --json"})
public final class BenchCommand extends DeviceCommand {
    private static final long STOP_SECONDS = 10;
    private static final int MAX_DEPTH = 4096;
    private static final int MAX_THREADS = 256;
    private static final int MAX_REQUEST_BYTES = 64 << 20;

    @Parameters(arity = "1..*", paramLabel = "URI", description = "Devices.")
    private List<String> uris = new ArrayList<>();

    @Option(names = "--rw", required = true, paramLabel = "PATTERN",
            converter = Workload.Pattern.Converter.class,
            description = "One of randread, randwrite, read, write, randrw.")
    private Workload.Pattern pattern = Workload.Pattern.RANDREAD;

    @Option(names = "--bs", paramLabel = "SIZE", converter = SizeConverter.class,
            defaultValue = "4k", description = "Size of a request. Default: ${DEFAULT-VALUE}.")
    private long requestBytes;

    @Option(names = "--qd", paramLabel = "N", defaultValue = "32",
            description = "Requests in flight of each thread. Default: ${DEFAULT-VALUE}.")
    private int depth;

    @Option(names = "--threads", paramLabel = "N", defaultValue = "1",
            description = "Threads that start requests at each device. Default: ${DEFAULT-VALUE}.")
    private int threads;

    @Option(names = "--time", paramLabel = "TIME", converter = TimeConverter.class,
            defaultValue = "10s",
            description = "Duration of the measurement. Default: ${DEFAULT-VALUE}.")
    private Duration time = Duration.ZERO;

    @Option(names = "--ramp", paramLabel = "TIME", converter = TimeConverter.class,
            defaultValue = "1s",
            description = "Warm-up time before the measurement. Default: ${DEFAULT-VALUE}.")
    private Duration ramp = Duration.ZERO;

    @Option(names = "--rwmixread", paramLabel = "PERCENT", defaultValue = "70",
            description = "Percentage of reads of randrw. Default: ${DEFAULT-VALUE}.")
    private int readPercent;

    @Option(names = "--size", paramLabel = "SIZE", converter = SizeConverter.class,
            defaultValue = "0", description = "Part of each device to use. Default: all.")
    private long rangeBytes;

    @Option(names = "--force", description = "Overwrite the devices' data.")
    private boolean force;

    @Option(names = "--json", description = "Write JSON.")
    private boolean json;

    @Mixin
    private final ConfigOption config = new ConfigOption();

    public BenchCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        checkOptions();
        for (String uri : uris) {
            requireLeaveToWrite(uri);
        }
        var work = new Workload(pattern, (int) requestBytes, depth, threads, readPercent,
                ramp.toNanos(), time.toNanos());
        try (var devices = new OpenDevices(config.volumes())) {
            var bench = new Bench(work, rangeBytes);
            for (String uri : uris) {
                BlockDevice device = devices.open(uri);
                requireFit(uri, device);
                bench.add(DeviceUri.withoutSecret(uri), device);
            }
            measure(work, bench);
        }
        return 0;
    }

    /** Measures; Ctrl-C ends the measurement early and prints what was measured. */
    private void measure(Workload work, Bench bench)
            throws StorageException, Failure, InterruptedException {
        var printed = new CountDownLatch(1);
        var interrupted = new Thread(() -> {
            bench.stop();
            try {
                boolean _ = printed.await(STOP_SECONDS, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "lunar-bench-stop");
        Runtime.getRuntime().addShutdownHook(interrupted);
        try {
            Bench.Result result;
            try (var bar = new ProgressBar(console())) {
                result = bench.run(elapsedNs -> draw(bar, work, elapsedNs));
            }
            tell(work, result);
        } finally {
            printed.countDown();
            forget(interrupted);
        }
    }

    private static void forget(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException _) {
            // It runs already.
        }
    }

    private static void draw(ProgressBar bar, Workload work, long elapsedNs) {
        if (bar.isDue()) {
            bar.draw("bench", (double) elapsedNs / work.timeNs(), String.format(Locale.ROOT,
                    "%.0f s left, Ctrl-C ends it", (work.timeNs() - elapsedNs) / 1e9));
        }
    }

    private void checkOptions() {
        requireRange("--qd", depth, 1, MAX_DEPTH);
        requireRange("--threads", threads, 1, MAX_THREADS);
        requireRange("--rwmixread", readPercent, 0, 100);
        requireRange("--bs", requestBytes, 512, MAX_REQUEST_BYTES);
        if (time.isZero()) {
            throw wrongUsage("--time must be above 0");
        }
    }

    private void requireRange(String option, long value, long min, long max) {
        if (value < min || value > max) {
            throw wrongUsage(option + " must be " + min + " to " + max + ", not " + value);
        }
    }

    private void requireLeaveToWrite(String uri) throws Failure {
        if (!pattern.writes() || force || uri.matches("([a-z]+(=[^:]*)?:)*ram:.*")) {
            return;
        }
        boolean created = uri.matches(".*[?&]size=.*")
                && NewFiles.file(uri).filter(file -> !Files.exists(file)).isPresent();
        if (!created) {
            throw new Failure(pattern + " overwrites the data on " + DeviceUri.withoutSecret(uri)
                    + "; add --force to confirm");
        }
    }

    private void requireFit(String uri, BlockDevice device) throws Failure {
        long longest = (long) device.limits().maxTransferBlocks() * device.blockSize();
        long range = rangeBytes == 0 ? device.sizeBytes() : rangeBytes;
        if (requestBytes % device.blockSize() != 0 || requestBytes > longest
                || requestBytes > Math.min(range, device.sizeBytes())) {
            throw new Failure(
                    "--bs " + requestBytes + " does not fit " + DeviceUri.withoutSecret(uri)
                            + ": it has " + device.sizeBytes() + " bytes in blocks of "
                            + device.blockSize() + " and accepts requests up to " + longest);
        }
        if (pattern.writes() && device.readOnly()) {
            throw new Failure(
                    DeviceUri.withoutSecret(uri) + " is read-only; choose --rw randread or read");
        }
    }

    private void tell(Workload work, Bench.Result result) {
        if (json) {
            console().out().println(Json.text(tree(work, result)));
            return;
        }
        console().out().println(String.format(Locale.ROOT,
                "%s, %d bytes, %d in flight of each of %d threads, %.1f s", pattern,
                work.requestBytes(), depth, threads, result.seconds()));
        console().out().println(Figures.heading());
        for (Figures device : result.devices()) {
            console().out().println(device.line());
        }
        if (result.devices().size() > 1) {
            console().out().println(result.total().line());
        }
        console().out().println(String.format(Locale.ROOT,
                "%.2f us of processor time per operation, in this process",
                result.cpuMicrosecondsPerOperation()));
    }

    private Object tree(Workload work, Bench.Result result) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("rw", pattern.toString());
        tree.put("blockSizeBytes", work.requestBytes());
        tree.put("queueDepth", depth);
        tree.put("threads", threads);
        tree.put("seconds", Figures.rounded(result.seconds()));
        tree.put("devices", result.devices().stream().map(Figures::tree).toList());
        var total = new LinkedHashMap<>(result.total().tree());
        total.put("cpuMicrosecondsPerOperation",
                Figures.rounded(result.cpuMicrosecondsPerOperation()));
        tree.put("total", total);
        return tree;
    }
}
