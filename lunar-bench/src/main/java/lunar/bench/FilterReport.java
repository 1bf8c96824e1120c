package lunar.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import lunar.bench.FilterBench.Figure;
import lunar.bench.FilterCase.Variant;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Puts the figures of filters together: medians, ranges, ratios to no filter in the same round. */
final class FilterReport {
    private final Settings settings;
    private final Map<String, String> machine;
    private final List<FilterCase> cases;
    private final List<Figure> figures;

    FilterReport(Settings settings, Map<String, String> machine, List<FilterCase> cases,
            List<Figure> figures) {
        this.settings = settings;
        this.machine = machine;
        this.cases = cases;
        this.figures = figures;
    }

    private List<Figure> of(FilterCase one, Variant variant) {
        return figures.stream().filter(figure -> figure.name().equals(one.name())
                && figure.variant().equals(variant.name())).toList();
    }

    private Spread spread(FilterCase one, Variant variant, ToDoubleFunction<Figure> what) {
        return Spread.of(of(one, variant).stream().map(what::applyAsDouble).toList());
    }

    /** To no filter in the same round. */
    private Spread ratio(FilterCase one, Variant variant) {
        List<Figure> over = of(one, variant);
        List<Figure> under = of(one, Variant.NONE);
        var ratios = new ArrayList<Double>();
        for (int i = 0; i < over.size(); i++) { // one of each per round, in the order of the rounds
            ratios.add(over.get(i).outcome().perSecond() / under.get(i).outcome().perSecond());
        }
        return Spread.of(ratios);
    }

    String markdown() {
        var text = new StringBuilder();
        machine.forEach((name, value) -> text.append("- ").append(name).append(": ").append(value)
                .append('\n'));
        text.append("- run: ").append(settings.rounds()).append(" rounds, ")
                .append(settings.seconds()).append(" s each, seed ").append(settings.seed())
                .append('\n');
        for (FilterCase one : cases) {
            text.append("\n### ").append(one.name())
                    .append(one.pays() ? "" : " (not expected to pay)")
                    .append("\n\n| filter | operations/s: median (range) | of no filter |"
                            + " p50 us | p99 us | spared below |\n|---|---|---|---|---|---|\n");
            for (Variant variant : one.variants()) {
                text.append(String.format(Locale.ROOT, "| %s | %s | %s | %.0f | %.0f | %.0f%% |%n",
                        variant.name(),
                        spread(one, variant, figure -> figure.outcome().perSecond()).text(0),
                        ratio(one, variant).text(2),
                        spread(one, variant, figure -> figure.outcome().p50Us()).median(),
                        spread(one, variant, figure -> figure.outcome().p99Us()).median(),
                        100 * spread(one, variant, Figure::spared).median()));
            }
        }
        return text.toString();
    }

    String json() {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("machine", machine);
        tree.put("rounds", settings.rounds());
        tree.put("seconds", settings.seconds());
        tree.put("seed", settings.seed());
        tree.put("figures", figures);
        return JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build()
                .writeValueAsString(tree);
    }
}
