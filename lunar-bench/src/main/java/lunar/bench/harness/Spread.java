package lunar.bench.harness;

import java.util.List;
import java.util.Locale;

/** Median and range of the results of several rounds. */
public record Spread(double median, double min, double max) {

    public static Spread of(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        double median = sorted.size() % 2 == 1
                ? sorted.get(middle)
                : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
        return new Spread(median, sorted.getFirst(), sorted.getLast());
    }

    public String text(int digits) {
        String number = "%." + digits + "f";
        return String.format(Locale.ROOT, number + " (" + number + " to " + number + ")", median,
                min, max);
    }
}
