package lunar.bench.compare;

import lunar.bench.harness.Spread;

import java.util.List;
import java.util.Locale;

/**
 * Decides whether one subject is slower than another, from the ratios of each round. An interval between two of the
 * sorted ratios, symmetric by rank, contains the true median with a certain confidence, independent of the distribution
 * (sign test). With 5 rounds the interval from the smallest to the largest has 94 %, and no narrower interval with less
 * confidence is used. The subject is slower if the whole interval is below {@value #LIMIT}, that is, by more than a
 * tenth and more than the noise.
 *
 * @param rounds number of ratios
 * @param ratios median and range
 * @param low lower end of the interval
 * @param high upper end of it
 */
record Regression(int rounds, Spread ratios, double low, double high) {
    static final double LIMIT = 0.9;
    /** Highest confidence that 5 values can give: 1 - 2 / 2^5. */
    private static final double CONFIDENCE = 0.93;
    private static final int MIN_ROUNDS = 5;

    static Regression of(List<Double> ratios) {
        List<Double> sorted = ratios.stream().sorted().toList();
        int cut = cut(sorted.size());
        return new Regression(sorted.size(), Spread.of(ratios), sorted.get(cut),
                sorted.get(sorted.size() - 1 - cut));
    }

    /** How many values may be left out at either end. */
    static int cut(int count) {
        double outside = 0; // that the true median is below all that are left, or above
        double term = Math.pow(0.5, count); // of the binomial distribution
        int cut = 0;
        while (true) {
            outside += 2 * term;
            if (1 - outside < CONFIDENCE || 2 * (cut + 1) >= count) {
                return Math.max(0, cut - 1);
            }
            term = term * (count - cut) / (cut + 1);
            cut++;
        }
    }

    /** Never by fewer rounds than the confidence takes. */
    boolean found() {
        return rounds >= MIN_ROUNDS && high < LIMIT;
    }

    String verdict() {
        if (rounds < MIN_ROUNDS) {
            return "too few rounds";
        }
        if (found()) {
            return "SLOWER";
        }
        return low > 1 / LIMIT ? "faster" : "no worse, as far as can be told";
    }

    String interval() { return String.format(Locale.ROOT, "%.2f to %.2f", low, high); }
}
