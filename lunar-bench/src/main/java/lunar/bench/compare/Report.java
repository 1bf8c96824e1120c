package lunar.bench.compare;

import lunar.bench.load.Measurement;
import lunar.bench.harness.Pair;
import lunar.bench.harness.Results;
import lunar.bench.harness.Spread;
import lunar.bench.harness.TextTable;
import lunar.bench.harness.Work;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import lunar.bench.compare.Agenda.Entry;
import lunar.bench.compare.Goal.Judged;

/** Summarizes measurements: medians and ranges of each pair, then the goals. */
final class Report {
    private final Results results;
    private final Agenda agenda;
    private final List<Measurement> measured;
    private final List<Judged> more;

    /** @param more rows that were judged elsewhere */
    Report(Results results, Agenda agenda, List<Measurement> measured, List<Judged> more) {
        this.results = results;
        this.agenda = agenda;
        this.measured = measured;
        this.more = more;
    }

    private List<Measurement> of(Work work, Pair pair) {
        return measured.stream().filter(one -> one.work().equals(work.name())
                && one.pair().equals(pair.label())).toList();
    }

    private static Spread spread(List<Measurement> of, ToDoubleFunction<Measurement> what) {
        return Spread.of(of.stream().map(what::applyAsDouble).toList());
    }

    private List<Judged> judged() {
        return Stream.concat(Goals.all().stream().flatMap(goal -> goal.judge(measured).stream()),
                more.stream()).toList();
    }

    // --- for people ---

    String table() { return "\n" + results.heading(rest()) + "\n" + tables(TextTable::plain); }

    String markdown() { return results.heading(rest()) + "\n" + tables(TextTable::markdown); }

    /** Describes the other load of the machine. */
    private String rest() {
        return measured.isEmpty()
                ? ""
                : "; cores busy with other things "
                        + spread(measured, Measurement::otherCores).text(1)
                        + ", load average with the bench itself "
                        + spread(measured, Measurement::load).text(1);
    }

    /** How a table is written. */
    @FunctionalInterface
    private interface Format {
        String write(TextTable table);
    }

    private String tables(Format format) {
        var text = new StringBuilder();
        for (Entry entry : agenda.entries()) {
            text.append("### ").append(entry.work().name()).append("\n\n")
                    .append(format.write(figures(entry))).append('\n');
        }
        var goals = new TextTable("work", "ratio, or figure", "to reach", "median (range)",
                "verdict");
        for (Judged one : judged()) {
            goals.row(one.row(), one.what(), one.toReach(), one.measured(), one.verdict());
        }
        return text.append("### Goals\n\n").append(format.write(goals)).toString();
    }

    private TextTable figures(Entry entry) {
        var table = new TextTable("LUN <- client", "operations/s: median (range)", "MB/s",
                "server CPU us/op", "client CPU us/op", "p50 / p99 / p99.9 us");
        for (Pair pair : entry.pairs()) {
            List<Measurement> of = of(entry.work(), pair);
            if (!of.isEmpty()) {
                table.row(pair.label(), spread(of, Measurement::iops).text(0),
                        number(of, Measurement::megabytes, 0),
                        number(of, Measurement::serverUs, 2), number(of, Measurement::clientUs, 2),
                        of.getFirst().p50Us() == 0
                                ? "-"
                                : number(of, Measurement::p50Us, 0) + " / "
                                        + number(of, Measurement::p99Us, 0) + " / "
                                        + number(of, Measurement::p999Us, 0));
            }
        }
        return table;
    }

    private static String number(List<Measurement> of, ToDoubleFunction<Measurement> what,
            int digits) {
        return String.format(Locale.ROOT, "%." + digits + "f", spread(of, what).median());
    }

    // --- for machines ---

    String json() {
        Map<String, Object> tree = results.tree();
        tree.put("bars", judged());
        tree.put("measurements", new ArrayList<>(measured));
        return Results.json(tree);
    }
}
