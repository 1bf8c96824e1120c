package lunar.raid.layout;

import java.util.ArrayList;
import java.util.List;
import lunar.raid.layout.Plan.Term;
import org.jspecify.annotations.Nullable;

/**
 * Computes how a unit is recovered from others: as a sum of units, each times a factor.
 *
 * <p>With data x and y lost, A = g^(y-x) / (g^(y-x) + 1) and B = g^-x / (g^(y-x) + 1), data x is A (P + P') + B (Q +
 * Q'), where P' and Q' are the parities of the data that are left (H. P. Anvin, "The mathematics of RAID-6", section
 * 4).
 */
record Recovery(Code code, int dataUnits, int units) {
    private boolean has(long set, int unit) { return (set >>> unit & 1) != 0; }

    private int p() { return dataUnits; }

    private int q() { return dataUnits + 1; }

    /** Returns a data unit, or a copy, as a sum of units that can be read; null if these are not enough. */
    @Nullable
    List<Term> data(int unit, long unreadable) {
        return switch (code) {
            case NONE -> null;
            case COPIES -> copy(unreadable);
            case P, PQ -> ofParity(unit, unreadable);
        };
    }

    private @Nullable List<Term> copy(long unreadable) {
        int source = Long.numberOfTrailingZeros(~unreadable);
        return source >= units ? null : List.of(new Term(source, false, 1));
    }

    private @Nullable List<Term> ofParity(int unit, long unreadable) {
        long lost = (unreadable | 1L << unit) & Layout.all(dataUnits);
        boolean hasP = !has(unreadable, p());
        boolean hasQ = code == Code.PQ && !has(unreadable, q());
        int losses = Long.bitCount(lost);
        if (losses == 1 && hasP) {
            return terms(lost, 1, 0);
        }
        if (losses == 1 && hasQ) {
            return terms(lost, 0, Galois.power(-unit));
        }
        if (losses == 2 && hasP && hasQ) {
            int other = Long.numberOfTrailingZeros(lost & ~(1L << unit));
            int ratio = Galois.power(other - unit);
            return terms(lost, Galois.over(ratio, ratio ^ 1),
                    Galois.over(Galois.power(-unit), ratio ^ 1));
        }
        return null;
    }

    /** Returns P times a, Q times b, and for each data unit that is left the term that cancels its share in them. */
    private List<Term> terms(long lost, int a, int b) {
        var terms = new ArrayList<Term>();
        for (int i = 0; i < dataUnits; i++) {
            int factor = a ^ Galois.times(b, Galois.power(i));
            if (!has(lost, i) && factor != 0) {
                terms.add(new Term(i, false, factor));
            }
        }
        if (a != 0) {
            terms.add(new Term(p(), false, a));
        }
        if (b != 0) {
            terms.add(new Term(q(), false, b));
        }
        return terms;
    }
}
