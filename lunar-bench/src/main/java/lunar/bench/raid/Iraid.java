package lunar.bench.raid;

import lunar.bench.filter.FilterLoad;
import lunar.bench.harness.Arguments;
import lunar.bench.harness.Bench;
import lunar.bench.harness.BenchException;
import lunar.bench.harness.CpuMeter;
import lunar.bench.harness.Machine;
import lunar.bench.harness.Results;
import lunar.bench.harness.Server;
import lunar.bench.harness.Settings;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import lunar.bench.filter.FilterLoad.Outcome;
import lunar.bench.filter.FilterLoad.Windows;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.block.StorageException;

/**
 * Repeats the experiment of the iRAID paper: volumes over 1 to 8 targets, S-iRAID (RAID 0) and P-iRAID (RAID 5),
 * against one target. Each target is a separate process, throttled in requests and bytes per second so that it is the
 * bottleneck, as in the paper. The network is a model ({@link Wire}).
 */
public final class Iraid {
    private static final int TARGETS = 8;
    private static final int LUN_MIB = 48;
    private static final int RAMP_MS = 300;
    private static final int WINDOWS = 4;
    /** On the slowest network few requests end in a window. */
    private static final int SLOW_FACTOR = 3;

    /**
     * Plan from the command line.
     *
     * @param throttle of each target
     * @param windowMs one of four windows of each measurement
     * @param cells regular expression: which cells are measured
     * @param out folder for the charts
     */
    record Plan(Settings settings, String throttle, int windowMs, String cells, Path out) {
        static Plan parse(String... args) throws BenchException {
            var own = Map.of("throttle", "12MiB,1000iops", "window", "250", "cells", "", "out",
                    "docs/figures");
            var given = Arguments.parse(own, Arguments.select(own.keySet(), true, args));
            return new Plan(Settings.parse(Arguments.select(own.keySet(), false, args)),
                    given.text("throttle"), given.number("window"), given.text("cells"),
                    given.path("out"));
        }
    }

    private final Plan plan;
    private final PrintStream out;
    private final List<Server> servers = new ArrayList<>();

    private Iraid(Plan plan, PrintStream out) {
        this.plan = plan;
        this.out = out;
    }

    /** Measures; writes a table to the terminal and IRAID.md, charts and the figures in JSON to a folder. */
    public static void main(String[] args) throws InterruptedException {
        Bench.main("iraid", args, (given, out) -> new Iraid(Plan.parse(given), out).run());
    }

    private void run() throws BenchException, IOException, InterruptedException {
        Path directory = plan.settings.directory();
        Files.createDirectories(directory);
        Files.createDirectories(plan.out);
        var wanted = Pattern.compile(plan.cells).asPredicate();
        List<IraidCell> cells = IraidCell.all().stream().filter(cell -> wanted.test(cell.name()))
                .toList();
        var setups = List.copyOf(
                new LinkedHashSet<>(cells.stream().map(IraidCell::setup).toList()));
        var figures = new ArrayList<IraidFigure>();
        try {
            start(setups);
            for (IraidSetup setup : setups) {
                figures.addAll(measure(setup, setups,
                        cells.stream().filter(cell -> cell.setup().equals(setup)).toList()));
            }
        } finally {
            servers.forEach(Server::close);
        }
        var report = new IraidReport(new Results(plan.settings,
                Machine.describe(directory, plan.settings.commit())), plan, figures);
        Files.writeString(directory.resolve("IRAID.md"), report.markdown());
        report.write(plan.out);
        out.println(report.markdown());
        out.println("written: iraid-5.svg to iraid-10.svg and iraid.json in " + plan.out
                + ", IRAID.md in " + directory);
    }

    /** Each target has a LUN for each setup that it is in. */
    private void start(List<IraidSetup> setups) throws BenchException, InterruptedException {
        for (int target = 0; target < TARGETS; target++) {
            var luns = new ArrayList<String>();
            for (IraidSetup setup : setups) {
                if (setup.targets() > target) {
                    luns.add("throttle=" + plan.throttle + ":ram:" + LUN_MIB + "MiB");
                }
            }
            if (!luns.isEmpty()) {
                servers.add(Server.lunar(plan.settings.lunar(),
                        plan.settings.directory().resolve("iraid-" + target + ".log"), List.of(),
                        luns));
            }
        }
    }

    private List<IraidFigure> measure(IraidSetup setup, List<IraidSetup> setups,
            List<IraidCell> cells) throws BenchException, StorageException, InterruptedException {
        var here = new Wire();
        var ports = new ArrayList<Wire>();
        var luns = new ArrayList<BlockDevice>();
        for (int target = 0; target < setup.targets(); target++) {
            int number = 0;
            for (IraidSetup other : setups.subList(0, setups.indexOf(setup))) {
                number += other.targets() > target ? 1 : 0;
            }
            ports.add(new Wire());
            luns.add(here.to(Devices.open(servers.get(target).uri(number)), ports.get(target)));
        }
        var figures = new ArrayList<IraidFigure>();
        try (BlockDevice device = setup.open(luns)) {
            for (IraidCell cell : cells) {
                long bits = cell.mbits() * 1_000_000L;
                here.speed(bits);
                ports.forEach(port -> port.speed(bits));
                IraidFigure figure = measure(cell, device);
                figures.add(figure);
                out.println(String.format(Locale.ROOT,
                        "%-66s %7.2f MB/s  %4.2f cores", cell.name(), figure.mean(),
                        figure.cores()));
            }
        }
        return figures;
    }

    private IraidFigure measure(IraidCell cell, BlockDevice device)
            throws BenchException, InterruptedException {
        var pids = new ArrayList<>(servers.stream().map(Server::pid).toList());
        pids.add(ProcessHandle.current().pid());
        var meter = new CpuMeter(pids);
        int factor = cell.mbits() == IraidCell.SLOW ? SLOW_FACTOR : 1;
        List<Outcome> outcomes = FilterLoad.run(device, cell.pattern(),
                new Windows(RAMP_MS, factor * plan.windowMs, WINDOWS), meter::mark);
        return new IraidFigure(cell, outcomes.stream()
                .map(one -> one.perSecond() * cell.work().bytes() / 1e6).toList(), meter.cores());
    }
}
