package lunar.bench.filter;

import lunar.bench.harness.Bench;
import lunar.bench.harness.BenchException;
import lunar.bench.harness.Machine;
import lunar.bench.harness.Results;
import lunar.bench.harness.Server;
import lunar.bench.harness.Settings;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import lunar.bench.filter.FilterCase.Variant;
import lunar.block.BlockDevice;
import lunar.block.StorageException;
import lunar.filter.CacheFilter;
import lunar.filter.ScheduleFilter;

/**
 * Measures when a cache and a scheduler pay off: each {@link FilterCase} without filter and with each of its filters,
 * in one interleaved run. Every round runs each case once in random order, and its variants in random order, so that
 * other load of the machine affects all alike and ratios within a round are more reliable than single figures. Every
 * measurement reopens its device, so that no cache is warm.
 */
public final class FilterBench {
    private static final int RAMP_SECONDS = 2;
    private static final long LUN_BYTES = 64 << 20;

    /**
     * Measurement of a variant.
     *
     * @param spared of the requests, those that the device below has been spared: hits, or merged ones
     */
    record Figure(int round, String name, String variant, FilterLoad.Outcome outcome,
            double spared) {}

    private final Settings settings;
    private final PrintStream out;
    private final List<FilterCase> cases;

    private FilterBench(Settings settings, PrintStream out, List<FilterCase> cases) {
        this.settings = settings;
        this.out = out;
        this.cases = cases;
    }

    /** Measures, and writes the results to the terminal, to FILTERS.json and to FILTERS.md. */
    public static void main(String[] args) throws InterruptedException {
        Bench.main("filters", args, (given, out) -> run(Settings.parse(given), out));
    }

    private static void run(Settings settings, PrintStream out)
            throws BenchException, IOException, InterruptedException {
        Path directory = settings.directory();
        Files.createDirectories(directory);
        try (var server = Server.watchedLunar(settings.lunar(), directory.resolve("filters.log"),
                LUN_BYTES)) {
            var bench = new FilterBench(settings, out,
                    FilterCase.all(server.uri(0), directory));
            List<Figure> figures = bench.rounds();
            var report = new FilterReport(new Results(settings,
                    Machine.describe(settings.directory(), settings.commit())), bench.cases,
                    figures);
            Files.writeString(directory.resolve("FILTERS.json"), report.json());
            Files.writeString(directory.resolve("FILTERS.md"), report.markdown());
            out.println(report.markdown());
            out.println("written: FILTERS.json and FILTERS.md in " + directory);
        } finally {
            Files.deleteIfExists(directory.resolve("filters.img"));
        }
    }

    private List<Figure> rounds() throws BenchException, IOException, InterruptedException {
        var random = new Random(settings.seed());
        var figures = new ArrayList<Figure>();
        for (int round = 1; round <= settings.rounds(); round++) {
            var order = new ArrayList<>(cases);
            Collections.shuffle(order, random);
            for (FilterCase one : order) {
                var variants = new ArrayList<>(one.variants());
                Collections.shuffle(variants, random);
                for (Variant variant : variants) {
                    Figure figure = measure(round, one, variant);
                    figures.add(figure);
                    out.println(String.format(Locale.ROOT,
                            "%2d  %-72s %-26s %9.0f/s  p50 %8.0f us  p99 %8.0f us  spared %3.0f%%",
                            round, one.name(), variant.name(), figure.outcome.perSecond(),
                            figure.outcome.p50Us(), figure.outcome.p99Us(),
                            100 * figure.spared));
                }
            }
        }
        return figures;
    }

    private Figure measure(int round, FilterCase one, Variant variant)
            throws BenchException, StorageException, InterruptedException {
        try (BlockDevice device = variant.filter().put(one.base().open())) {
            FilterLoad.Outcome outcome = FilterLoad.run(device, one.pattern(), RAMP_SECONDS,
                    settings.seconds());
            return new Figure(round, one.name(), variant.name(), outcome, spared(device));
        }
    }

    private static double spared(BlockDevice device) {
        return switch (device) {
            case CacheFilter cache -> cache.statistics().hitRatio();
            case ScheduleFilter schedule -> {
                ScheduleFilter.Statistics told = schedule.statistics();
                yield told.merged() / (double) Math.max(1, told.merged() + told.passedOn());
            }
            default -> 0;
        };
    }
}
