package lunar.bench.osd;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import lunar.bench.harness.Results;
import lunar.bench.harness.Spread;
import lunar.bench.harness.TextTable;

/** Report of {@link OsdBench}. */
record OsdReport(Results results, List<OsdLatencies> latencies, List<OsdThroughput> throughputs) {
    static final String TCP = "TCP";

    private static final double KILO = 1000;

    void write(PrintStream out) throws IOException {
        Path directory = results.settings().directory();
        Map<String, Object> tree = results.tree();
        tree.put("latencies", latencies);
        tree.put("throughputs", throughputs);
        Files.writeString(directory.resolve("OSD.json"), Results.json(tree));
        TextTable commands = commands();
        TextTable bySize = bySize();
        TextTable byClients = byClients();
        Files.writeString(directory.resolve("OSD.md"), results.heading("") + "\n"
                + commands.markdown() + "\n" + bySize.markdown() + "\n" + byClients.markdown());
        out.println("\n" + results.run() + "\n\n" + commands.plain() + "\n" + bySize.plain()
                + "\n" + byClients.plain());
        out.println("written: OSD.json and OSD.md in " + directory);
    }

    private List<String> servers() {
        return latencies.stream().map(OsdLatencies::server).distinct().toList();
    }

    /** Table 1: medians over the rounds of mean, deviation and median within a round. */
    private TextTable commands() {
        var table = new TextTable("command", "transport", "mean us", "deviation us",
                "median us", "times ping: median (range)", "times ping in the paper");
        for (OsdCommand command : OsdCommand.values()) {
            for (String server : servers()) {
                List<OsdLatencies> of = latencies.stream()
                        .filter(each -> each.server().equals(server)).toList();
                table.row(command.name().toLowerCase(Locale.ROOT), server,
                        median(of.stream().map(each -> each.mean(command)).toList()),
                        median(of.stream().map(each -> each.deviation(command)).toList()),
                        median(of.stream().map(each -> each.median(command)).toList()),
                        Spread.of(of.stream().map(each -> each.multiple(command)).toList())
                                .text(2),
                        String.format(Locale.ROOT, "%.1f", command.paperMultiple()));
            }
        }
        return table;
    }

    private TextTable bySize() {
        var table = new TextTable("message KiB", "transport", "read MB/s: median (range)",
                "write MB/s: median (range)");
        throughputs.stream().filter(each -> each.clients() == 1).map(OsdThroughput::bytes)
                .distinct().sorted().forEach(bytes -> servers().forEach(
                        server -> table.row(
                                String.format(Locale.ROOT, "%.0f", bytes / 1024.0), server,
                                rate(true, each -> each.clients() == 1 && each.bytes() == bytes
                                        && each.server().equals(server)),
                                rate(false, each -> each.clients() == 1 && each.bytes() == bytes
                                        && each.server().equals(server)))));
        return table;
    }

    private TextTable byClients() {
        int bytes = throughputs.stream().filter(each -> each.clients() > 1)
                .mapToInt(OsdThroughput::bytes).findFirst().orElse(0);
        var table = new TextTable("clients", "transport",
                "read MB/s, " + (int) (bytes / KILO) + " kB: median (range)",
                "write MB/s, " + (int) (bytes / KILO) + " kB: median (range)");
        throughputs.stream().filter(each -> each.bytes() == bytes).map(OsdThroughput::clients)
                .distinct().sorted().forEach(clients -> servers().forEach(
                        server -> table.row("" + clients, server,
                                rate(true, each -> each.clients() == clients
                                        && each.bytes() == bytes
                                        && each.server().equals(server)),
                                rate(false, each -> each.clients() == clients
                                        && each.bytes() == bytes
                                        && each.server().equals(server)))));
        return table;
    }

    private String rate(boolean reads, Predicate<OsdThroughput> which) {
        List<Double> rates = throughputs.stream().filter(each -> each.reads() == reads)
                .filter(which).map(OsdThroughput::megabytes).toList();
        return rates.isEmpty() ? "" : Spread.of(rates).text(0);
    }

    private static String median(List<Double> values) {
        return String.format(Locale.ROOT, "%.1f", Spread.of(values).median());
    }
}
