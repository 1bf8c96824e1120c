package lunar.bench.filter;

import lunar.bench.harness.Results;
import lunar.bench.harness.Spread;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import lunar.bench.filter.FilterBench.Figure;
import lunar.bench.filter.FilterCase.Variant;

/** Summarizes the figures of filters: medians, ranges, ratios to no filter in the same round. */
final class FilterReport {
    private final Results results;
    private final List<FilterCase> cases;
    private final List<Figure> figures;

    FilterReport(Results results, List<FilterCase> cases, List<Figure> figures) {
        this.results = results;
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

    /** Returns the ratio to no filter in the same round. */
    private Spread ratio(FilterCase one, Variant variant) {
        return Results.ratio(of(one, variant), of(one, Variant.NONE),
                figure -> figure.outcome().perSecond());
    }

    String markdown() {
        var text = new StringBuilder(results.heading(""));
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
        Map<String, Object> tree = results.tree();
        tree.put("figures", figures);
        return Results.json(tree);
    }
}
