package lunar.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import lunar.bench.Measurement.Subject;

/** Puts measurements together: medians, ranges, ratios of figures of one round. */
final class Report {
    private final Results results;
    private final List<Measurement> measured;

    Report(Results results, List<Measurement> measured) {
        this.results = results;
        this.measured = measured;
    }

    /** One who reads: a client at a LUN. */
    private record End(Subject subject, Client client) {
        @Override
        public String toString() { return subject + " <- " + client; }
    }

    /** A question that the ratio of two of them answers. */
    private record Question(String text, End over, End under) {}

    private static List<Question> questions() {
        var questions = new ArrayList<Question>();
        for (Client client : Client.values()) {
            questions.add(new Question("target: Lunar / tgtd, file, client " + client,
                    new End(Subject.LUNAR_FILE, client), new End(Subject.TGTD_FILE, client)));
        }
        for (Subject subject : Subject.values()) {
            questions.add(new Question("initiator: Lunar / libiscsi, at " + subject,
                    new End(subject, Client.LUNAR), new End(subject, Client.ISCSI_PERF)));
        }
        questions.add(new Question("both ends: Lunar / tgtd and iscsi-perf, file",
                new End(Subject.LUNAR_FILE, Client.LUNAR),
                new End(Subject.TGTD_FILE, Client.ISCSI_PERF)));
        return questions;
    }

    static String line(Measurement one) {
        return String.format(Locale.ROOT,
                "%2d  %-38s %-14s %-11s %9.0f/s %7.2f us server %7.2f us client  others %.1f cores",
                one.round(), one.work().name(), one.subject(), one.client(), one.iops(),
                one.serverUs(), one.clientUs(), one.otherCores());
    }

    private List<Measurement> of(Work work, End end) {
        return measured.stream().filter(one -> one.work().equals(work)
                && one.subject() == end.subject && one.client() == end.client).toList();
    }

    private Spread spread(Work work, End end, ToDoubleFunction<Measurement> what) {
        return Spread.of(of(work, end).stream().map(one -> what.applyAsDouble(one)).toList());
    }

    private Spread ratio(Work work, Question question) {
        return Results.ratio(of(work, question.over), of(work, question.under),
                Measurement::iops);
    }

    private static List<End> ends() {
        var ends = new ArrayList<End>();
        for (Subject subject : Subject.values()) {
            for (Client client : Client.values()) {
                ends.add(new End(subject, client));
            }
        }
        return ends;
    }

    // --- for people ---

    String table() { return grid(false); }

    String markdown() { return results.heading(rest()) + "\n" + grid(true); }

    /** What else went on. */
    private String rest() {
        Spread others = Spread.of(measured.stream().map(Measurement::otherCores).toList());
        Spread load = Spread.of(measured.stream().map(Measurement::load).toList());
        return "; cores busy with other things " + others.text(1)
                + ", load average with the bench itself " + load.text(1);
    }

    private String grid(boolean markdown) {
        var text = new StringBuilder(markdown ? "" : "\n" + results.run() + rest() + "\n");
        for (Work work : Work.ALL) {
            text.append(markdown ? "### " : "\n").append(work.name()).append("\n\n");
            row(text, markdown, "LUN <- client", "operations/s: median (range)", "MB/s",
                    "server CPU us/op", "client CPU us/op", "p50 / p99 / p99.9 us");
            if (markdown) {
                text.append("|---|---|---|---|---|---|\n");
            }
            for (End end : ends()) {
                Spread iops = spread(work, end, Measurement::iops);
                row(text, markdown, end.toString(), iops.text(0),
                        number(iops.median() * work.requestBytes() / 1e6, 0),
                        number(spread(work, end, Measurement::serverUs).median(), 2),
                        number(spread(work, end, Measurement::clientUs).median(), 2),
                        latency(work, end).orElse("-"));
            }
            text.append('\n');
            row(text, markdown, "ratio of operations/s", "median (range) of the rounds");
            if (markdown) {
                text.append("|---|---|\n");
            }
            for (Question question : questions()) {
                row(text, markdown, question.text, ratio(work, question).text(2));
            }
            text.append('\n');
        }
        return text.toString();
    }

    private Optional<String> latency(Work work, End end) {
        if (end.client == Client.ISCSI_PERF) {
            return Optional.empty();
        }
        return Optional.of(number(spread(work, end, one -> one.outcome().p50Us()).median(), 0)
                + " / " + number(spread(work, end, one -> one.outcome().p99Us()).median(), 0)
                + " / " + number(spread(work, end, one -> one.outcome().p999Us()).median(), 0));
    }

    private static void row(StringBuilder text, boolean markdown, String... cells) {
        if (markdown) {
            text.append("| ").append(String.join(" | ", cells)).append(" |\n");
            return;
        }
        int[] widths = cells.length == 2 ? new int[]{48, 0} : new int[]{30, 30, 7, 18, 18, 0};
        for (int i = 0; i < cells.length; i++) {
            text.append(cells[i]).append(" ".repeat(Math.max(1, widths[i] - cells[i].length())));
        }
        text.append('\n');
    }

    private static String number(double value, int digits) {
        return String.format(Locale.ROOT, "%." + digits + "f", value);
    }

    // --- for machines ---

    String json() {
        Map<String, Object> tree = results.tree();
        var ratios = new ArrayList<Object>();
        for (Work work : Work.ALL) {
            for (Question question : questions()) {
                var one = new LinkedHashMap<String, Object>();
                one.put("work", work.name());
                one.put("question", question.text);
                one.put("iopsRatio", ratio(work, question));
                ratios.add(one);
            }
        }
        tree.put("ratios", ratios);
        tree.put("measurements", measured);
        return Results.json(tree);
    }
}
