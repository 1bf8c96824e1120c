package lunar.bench.harness;

import java.util.List;
import org.apache.commons.statistics.distribution.TDistribution;

/**
 * Estimate of a mean from a sample.
 *
 * @param count values of the sample
 * @param halfWidth of the interval around the sample's mean that contains the true mean with 95 % confidence (Student's
 *        t); infinite for a single value
 */
public record Estimate(int count, double mean, double halfWidth) {
    private static final double UPPER_TAIL = 0.025;

    public static Estimate of(List<Double> values) {
        int count = values.size();
        double mean = values.stream().mapToDouble(value -> value).average().orElseThrow();
        if (count == 1) {
            return new Estimate(count, mean, Double.POSITIVE_INFINITY);
        }
        double squares = values.stream().mapToDouble(value -> (value - mean) * (value - mean))
                .sum();
        double t = TDistribution.of(count - 1).inverseSurvivalProbability(UPPER_TAIL);
        return new Estimate(count, mean, t * Math.sqrt(squares / (count - 1) / count));
    }

    double low() { return mean - halfWidth; }

    double high() { return mean + halfWidth; }
}
