package lunar.bench.objects;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import lunar.bench.harness.Arguments;
import lunar.bench.harness.Bench;
import lunar.bench.harness.BenchException;
import lunar.bench.harness.Machine;
import lunar.bench.harness.Settings;
import lunar.bench.harness.TextTable;

/**
 * Creates many small objects in one partition of an object store, kills its process, and measures: the rate of creation
 * and how it changes, memory, the start after the kill, the rates of lists and lookups, how long the removal of the
 * partition takes and keeps others waiting. The device does part of it too.
 */
public final class ObjectsBench {
    private static final int TENTHS = 10;
    private static final long BYTES_PER_MIB = 1 << 20;

    private final Settings settings;
    private final Arguments own;
    private final PrintStream out;
    private final Path store;
    private final Map<String, String> figures = new LinkedHashMap<>();

    private ObjectsBench(Settings settings, Arguments own, PrintStream out) {
        this.settings = settings;
        this.own = own;
        this.out = out;
        this.store = own.path("store");
    }

    /** Runs the benchmark. See {@code scripts/bench}. */
    public static void main(String[] args) throws InterruptedException {
        Bench.main("objects", args, (given, out) -> {
            var own = Map.of("count", "10000000", "store", "lunar-bench/target/bench/objects",
                    "threads", "8", "bytes", "100", "order", "ascending", "heap", "256m",
                    "device", "20000", "phases", "create,list,device,remove");
            new ObjectsBench(Settings.parse(Arguments.select(own.keySet(), false, given)),
                    Arguments.parse(own, Arguments.select(own.keySet(), true, given)), out).run();
        });
    }

    private void run() throws BenchException, IOException, InterruptedException {
        Files.createDirectories(settings.directory());
        for (String phase : own.text("phases").split(",", -1)) {
            switch (phase) {
                case "create" -> create();
                case "list" -> list();
                case "device" -> device();
                case "remove" -> remove();
                default -> throw new BenchException("no phase " + phase);
            }
        }
        report();
    }

    private StoreRun start(String work) throws BenchException {
        return StoreRun.start(own.text("heap"), settings.directory().resolve("objects.log"),
                store.toString(), work, own.text("count"), own.text("threads"), own.text("bytes"),
                own.text("order"));
    }

    private void create() throws BenchException, IOException {
        if (Files.exists(store)) {
            throw new BenchException(store + " exists: remove it, or leave out the phase create");
        }
        int count = own.number("count");
        var progress = new Progress(out, count);
        try (StoreRun run = start("create")) {
            while (run.next()) {
                progress.at((long) run.figure("created"),
                        mib(run.probe().residentBytes()));
            }
            add("objects", count, 0, "");
            add("creation of all", progress.rate(0, TENTHS), 0, " objects/s");
            add("creation of the first tenth", progress.rate(0, 1), 0, " objects/s");
            add("creation of the last tenth", progress.rate(TENTHS - 1, TENTHS), 0,
                    " objects/s");
            add("resident after the first tenth", progress.residentMib(1), 0, " MiB");
            add("resident after the last tenth", progress.residentMib(TENTHS), 0, " MiB");
        }
        add("size of the store", mib(size()), 0, " MiB");
    }

    private static double mib(long bytes) { return (double) bytes / BYTES_PER_MIB; }

    private long size() throws IOException {
        try (Stream<Path> files = Files.list(store)) {
            return files.mapToLong(each -> each.toFile().length()).sum();
        }
    }

    private void list() throws BenchException, IOException {
        try (StoreRun run = start("list")) {
            while (run.next()) {
                out.println("list and lookups after kill -9");
            }
            add("opened after kill -9", run.figure("opened"), 3, " s");
            add("list of all", run.figure("listed") / run.figure("list-seconds"), 0,
                    " objects/s");
            add("lookups of an attribute, at random", run.figure("lookups-per-second"), 0, "/s");
            add("resident after list and lookups", mib(run.probe().residentBytes()), 0, " MiB");
        }
    }

    private void device() throws BenchException, IOException, InterruptedException {
        if (own.number("device") > 0) {
            DeviceRun.of(settings, store, own.number("device"), own.number("threads"))
                    .forEach((name, value) -> figures.put("device: " + name, value));
        }
    }

    private void remove() throws BenchException, IOException {
        try (StoreRun run = start("remove")) {
            while (run.next()) {
                out.println("removal of the partition");
            }
            add("removal of the partition", run.figure("remove-seconds"), 3, " s");
            add("longest wait of a creation meanwhile", run.figure("longest-wait-seconds"), 3,
                    " s");
            add("space reclaimed after", run.figure("reclaim-seconds"), 1, " s");
            add("creation by one thread meanwhile",
                    run.figure("created-meanwhile") / run.figure("reclaim-seconds"), 0,
                    " objects/s");
            add("resident, most", mib(run.probe().mostResidentBytes()), 0, " MiB");
        }
    }

    private void add(String name, double value, int digits, String unit) {
        String text = String.format(Locale.ROOT, "%,." + digits + "f%s", value, unit);
        figures.put(name, text);
        out.println(name + ": " + text);
    }

    private void report() throws BenchException, IOException, InterruptedException {
        var table = new TextTable("figure", "value");
        figures.forEach(table::row);
        var machine = new StringBuilder();
        Machine.describe(settings.directory(), settings.commit()).forEach((name, value) -> machine
                .append("- ").append(name).append(": ").append(value).append('\n'));
        Files.writeString(settings.directory().resolve("OBJECTS.md"),
                machine + "\n" + table.markdown());
        out.println("\n" + table.plain());
        out.println("written: OBJECTS.md in " + settings.directory());
    }
}
