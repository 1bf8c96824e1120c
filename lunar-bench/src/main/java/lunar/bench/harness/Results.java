package lunar.bench.harness;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Common parts of the reports of all comparisons: machine and settings, and ratios within a round. */
public record Results(Settings settings, Map<String, String> machine) {
    /** A list of the machine's facts in Markdown, and of the run. */
    public String heading(String more) {
        var text = new StringBuilder();
        machine.forEach((name, value) -> text.append("- ").append(name).append(": ").append(value)
                .append('\n'));
        return text.append("- run: ").append(run()).append(more).append('\n').toString();
    }

    public String run() {
        return settings.rounds() + " rounds, " + settings.seconds() + " s each, seed "
                + settings.seed();
    }

    /** Returns these facts for JSON. */
    public Map<String, Object> tree() {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("machine", machine);
        tree.put("rounds", settings.rounds());
        tree.put("seconds", settings.seconds());
        tree.put("seed", settings.seed());
        return tree;
    }

    /** Returns the ratio of figures of which each list has one per round, in the order of the rounds. */
    public static <T> Spread ratio(List<T> over, List<T> under, ToDoubleFunction<T> figure) {
        return Spread.of(ratios(over, under, figure));
    }

    /** Returns the ratios within each round. */
    public static <T> List<Double> ratios(List<T> over, List<T> under, ToDoubleFunction<T> figure) {
        var ratios = new ArrayList<Double>();
        for (int i = 0; i < over.size(); i++) {
            ratios.add(figure.applyAsDouble(over.get(i)) / figure.applyAsDouble(under.get(i)));
        }
        return ratios;
    }

    public static String json(Object tree) {
        return JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build()
                .writeValueAsString(tree) + "\n";
    }
}
