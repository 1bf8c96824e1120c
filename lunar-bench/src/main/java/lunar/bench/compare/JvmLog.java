package lunar.bench.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Pauses of a JVM, from its log ({@value #OPTION} and a file).
 *
 * @param collections pauses for garbage collection, in milliseconds
 * @param safepoints all pauses, with the time until all threads had stopped
 */
record JvmLog(Pauses collections, Pauses safepoints) {
    /** Each line begins with {@link System#nanoTime()}. */
    static final String OPTION = "-Xlog:gc*,safepoint:file=%s:timenanos:filecount=0";

    private static final double NS_PER_MS = 1e6;
    private static final Pattern COLLECTION = Pattern
            .compile("(?m)^\\[(\\d+)ns] GC\\(\\d+\\) Pause .* (\\d+\\.\\d+)ms$");
    private static final Pattern SAFEPOINT = Pattern
            .compile("(?m)^\\[(\\d+)ns] Safepoint \"\\w+\".* Total: +(\\d+) ns");

    /** How long some pauses were, in milliseconds; 0 where there was none. */
    record Pauses(int count, double p999Ms, double maxMs) {
        static Pauses of(List<Double> ms) {
            List<Double> sorted = ms.stream().sorted().toList();
            return sorted.isEmpty()
                    ? new Pauses(0, 0, 0)
                    : new Pauses(sorted.size(),
                            sorted.get((int) Math.ceil(0.999 * sorted.size()) - 1),
                            sorted.getLast());
        }

        @Override
        public String toString() {
            return count == 0
                    ? "none"
                    : String.format(Locale.ROOT, "%d, p99.9 %.3f ms, longest %.3f ms", count,
                            p999Ms, maxMs);
        }
    }

    /** Returns the pauses between two times. */
    static JvmLog parse(String text, long fromNs, long toNs) {
        return new JvmLog(Pauses.of(values(COLLECTION.matcher(text), 1, fromNs, toNs)),
                Pauses.of(values(SAFEPOINT.matcher(text), NS_PER_MS, fromNs, toNs)));
    }

    private static List<Double> values(Matcher matcher, double perMs, long fromNs, long toNs) {
        var values = new ArrayList<Double>();
        for (MatchResult line : matcher.results().toList()) {
            long atNs = Long.parseLong(line.group(1));
            if (atNs >= fromNs && atNs < toNs) {
                values.add(Double.parseDouble(line.group(2)) / perMs);
            }
        }
        return values;
    }
}
