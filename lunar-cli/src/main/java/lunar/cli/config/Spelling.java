package lunar.cli.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Finds the word that a misspelt one was meant to be. */
final class Spelling {
    private Spelling() {}

    /** Returns the nearest of some words; empty if none is near. */
    static Optional<String> nearest(String word, Collection<String> known) {
        String lower = word.toLowerCase(Locale.ROOT).replace('_', '-');
        int most = Math.max(1, word.length() / 3);
        return known.stream().filter(one -> distance(lower, one) <= most)
                .min(Comparator.<String>comparingInt(one -> distance(lower, one))
                        .thenComparing(Comparator.naturalOrder()));
    }

    /**
     * Returns the number of letters to insert, remove, replace or exchange with their neighbours (Damerau's restricted
     * edit distance).
     */
    static int distance(String from, String to) {
        int[] before = new int[to.length() + 1];
        int[] last = new int[to.length() + 1];
        for (int j = 0; j <= to.length(); j++) {
            last[j] = j;
        }
        for (int i = 1; i <= from.length(); i++) {
            int[] now = new int[to.length() + 1];
            now[0] = i;
            for (int j = 1; j <= to.length(); j++) {
                int replaced = last[j - 1] + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                now[j] = Math.min(replaced, 1 + Math.min(last[j], now[j - 1]));
                if (i > 1 && j > 1 && from.charAt(i - 1) == to.charAt(j - 2)
                        && from.charAt(i - 2) == to.charAt(j - 1)) {
                    now[j] = Math.min(now[j], before[j - 2] + 1);
                }
            }
            before = last;
            last = now;
        }
        return last[to.length()];
    }
}
