package lunar.raid.layout;

import java.util.ArrayList;
import java.util.List;
import lunar.raid.layout.Plan.Method;
import lunar.raid.layout.Plan.Term;
import org.jspecify.annotations.Nullable;

/**
 * The planner of all levels.
 *
 * <p>A range of a stripe's data is cut into <i>bands</i>: ranges within a unit in which the same data units are
 * touched. A range in one unit is one band; one over several is up to three. Each band is planned for itself, with
 * the fewest reads, and neighbouring transfers of one unit become one again.
 */
final class StripePlanner implements Planner {
    private final Code code;
    private final int chunkBlocks;
    private final int dataUnits;
    private final int units;
    private final Recovery recovery;

    StripePlanner(Layout layout) {
        code = layout.code();
        chunkBlocks = layout.chunkBlocks();
        dataUnits = layout.dataUnits();
        units = layout.units();
        recovery = new Recovery(code, dataUnits, units);
    }

    /** A range of blocks of a unit, and the data units that the request touches there. */
    private record Band(int from, int end, long touched) {}

    private List<Band> bands(int from, int blocks) {
        if (from < 0 || blocks <= 0 || blocks > dataUnits * chunkBlocks - from) {
            throw new IllegalArgumentException("blocks " + from + "+" + blocks + " of a stripe of "
                    + dataUnits * chunkBlocks);
        }
        int end = from + blocks;
        int[] cuts = {0, from % chunkBlocks, (end - 1) % chunkBlocks + 1, chunkBlocks};
        if (cuts[1] > cuts[2]) {
            int first = cuts[1];
            cuts[1] = cuts[2];
            cuts[2] = first;
        }
        var bands = new ArrayList<Band>();
        for (int i = 0; i < 3; i++) {
            long touched = 0;
            for (int unit = 0; unit < dataUnits; unit++) {
                int start = unit * chunkBlocks + cuts[i];
                touched |= start >= from && start < end ? 1L << unit : 0;
            }
            if (touched != 0 && cuts[i] < cuts[i + 1]) {
                bands.add(new Band(cuts[i], cuts[i + 1], touched));
            }
        }
        return bands;
    }

    private static boolean has(long set, int unit) { return (set >>> unit & 1) != 0; }

    // --- reads ---

    @Override
    public @Nullable Plan read(int from, int blocks, long unreadable, int preferred) {
        var plan = new PlanBuilder();
        if (code == Code.COPIES) {
            int source = preferred < units && !has(unreadable, preferred)
                    ? preferred
                    : Long.numberOfTrailingZeros(~unreadable);
            if (source >= units) {
                return null;
            }
            plan.read(source, from, from + blocks, true);
            return plan.build(Method.DIRECT);
        }
        boolean recovers = false;
        for (Band band : bands(from, blocks)) {
            for (int unit = 0; unit < dataUnits; unit++) {
                if (has(band.touched & ~unreadable, unit)) {
                    plan.read(unit, band.from, band.end, true);
                }
            }
            for (int unit = 0; unit < dataUnits; unit++) {
                if (has(band.touched & unreadable, unit)) {
                    List<Term> terms = recovery.data(unit, unreadable);
                    if (terms == null) {
                        return null;
                    }
                    recovers = true;
                    plan.compute(unit, true, band.from, band.end, sources(plan, band, terms));
                }
            }
        }
        return plan.build(recovers ? Method.RECOVER : Method.DIRECT);
    }

    /** Returns the sources of terms: the buffer for units read into it anyway; the others are read into the scratch. */
    private static List<Term> sources(PlanBuilder plan, Band band, List<Term> terms) {
        var sources = new ArrayList<Term>();
        for (Term term : terms) {
            boolean buffer = has(band.touched, term.unit());
            if (!buffer) {
                plan.read(term.unit(), band.from, band.end, false);
            }
            sources.add(new Term(term.unit(), buffer, term.factor()));
        }
        return sources;
    }

    // --- writes ---

    @Override
    public @Nullable Plan write(int from, int blocks, long unreadable, long unwritable) {
        var plan = new PlanBuilder();
        if (code == Code.COPIES) {
            for (int unit = 0; unit < units; unit++) {
                if (!has(unwritable, unit)) {
                    plan.write(unit, from, from + blocks, true);
                }
            }
            return !isAll(unwritable)
                    ? plan.build(Method.DIRECT)
                    : null;
        }
        if (code == Code.NONE && touches(from, blocks, unwritable)) {
            return null;
        }
        Method method = blocks == dataUnits * chunkBlocks ? Method.FULL_STRIPE : Method.DIRECT;
        for (Band band : bands(from, blocks)) {
            Method how = parity(plan, band, unreadable, unwritable);
            if (how == null) {
                return null;
            }
            method = how.compareTo(method) > 0 ? how : method;
            for (int unit = 0; unit < dataUnits; unit++) {
                if (has(band.touched & ~unwritable, unit)) {
                    plan.write(unit, band.from, band.end, true);
                }
            }
        }
        return plan.build(method);
    }

    private boolean isAll(long set) { return (~set & Layout.all(units)) == 0; }

    private boolean touches(int from, int blocks, long set) {
        for (Band band : bands(from, blocks)) {
            if ((band.touched & set) != 0) {
                return true;
            }
        }
        return false;
    }

    /** Plans the parity of a band; returns null if it cannot be computed. */
    private @Nullable Method parity(PlanBuilder plan, Band band, long unreadable,
            long unwritable) {
        long parities = Layout.all(units) & ~Layout.all(dataUnits) & ~unwritable;
        if (parities == 0) {
            return Method.DIRECT;
        }
        long others = Layout.all(dataUnits) & ~band.touched;
        boolean canModify = (unreadable & (band.touched | parities)) == 0;
        boolean canReconstruct = (unreadable & others) == 0;
        int toModify = Long.bitCount(band.touched) + Long.bitCount(parities);
        int toReconstruct = Long.bitCount(others);
        if (canReconstruct && (!canModify || toReconstruct <= toModify)) {
            readAll(plan, band, others);
            computeAnew(plan, band, parities);
            return others == 0 ? Method.FULL_STRIPE : Method.RECONSTRUCT_WRITE;
        }
        if (canModify) {
            readAll(plan, band, band.touched | parities);
            modify(plan, band, parities);
            return Method.READ_MODIFY_WRITE;
        }
        if (!recover(plan, band, others & unreadable, unreadable)) {
            return null;
        }
        readAll(plan, band, others & ~unreadable);
        computeAnew(plan, band, parities);
        return Method.RECOVER;
    }

    private void readAll(PlanBuilder plan, Band band, long set) {
        for (int unit = 0; unit < units; unit++) {
            if (has(set, unit)) {
                plan.read(unit, band.from, band.end, false);
            }
        }
    }

    /** Computes parity as the sum of the data written and of the other data, which are in the scratch. */
    private void computeAnew(PlanBuilder plan, Band band, long parities) {
        for (int unit = dataUnits; unit < units; unit++) {
            if (has(parities, unit)) {
                var terms = new ArrayList<Term>();
                for (int data = 0; data < dataUnits; data++) {
                    terms.add(new Term(data, has(band.touched, data),
                            code.factor(unit - dataUnits, data)));
                }
                plan.compute(unit, false, band.from, band.end, terms);
                plan.write(unit, band.from, band.end, false);
            }
        }
    }

    /** Changes parity by the difference of the data, times their factor. */
    private void modify(PlanBuilder plan, Band band, long parities) {
        for (int unit = dataUnits; unit < units; unit++) {
            if (has(parities, unit)) {
                var terms = new ArrayList<Term>();
                terms.add(new Term(unit, false, 1));
                for (int data = 0; data < dataUnits; data++) {
                    if (has(band.touched, data)) {
                        int factor = code.factor(unit - dataUnits, data);
                        terms.add(new Term(data, false, factor));
                        terms.add(new Term(data, true, factor));
                    }
                }
                plan.compute(unit, false, band.from, band.end, terms);
                plan.write(unit, band.from, band.end, false);
            }
        }
    }

    /** Computes lost data units into the scratch from units that can be read; returns false if these are not enough. */
    private boolean recover(PlanBuilder plan, Band band, long lost, long unreadable) {
        for (int unit = 0; unit < dataUnits; unit++) {
            if (has(lost, unit)) {
                List<Term> terms = recovery.data(unit, unreadable);
                if (terms == null) {
                    return false;
                }
                for (Term term : terms) {
                    plan.read(term.unit(), band.from, band.end, false);
                }
                plan.compute(unit, false, band.from, band.end, terms);
            }
        }
        return true;
    }

    // --- repair ---

    @Override
    public @Nullable Plan restore(long wanted, int from, int blocks, long unreadable) {
        var plan = new PlanBuilder();
        long missing = (unreadable | wanted) & Layout.all(units);
        var band = new Band(from, from + blocks, 0);
        if (code == Code.COPIES) {
            for (int unit = 0; unit < units; unit++) {
                List<Term> terms = has(wanted, unit) ? recovery.data(unit, missing) : List.of();
                if (terms == null) {
                    return null;
                }
                if (!terms.isEmpty()) {
                    plan.read(terms.getFirst().unit(), from, band.end, false);
                    plan.compute(unit, false, from, band.end, terms);
                }
            }
        } else {
            long parities = wanted & ~Layout.all(dataUnits);
            long data = Layout.all(dataUnits) & (parities != 0 ? missing : wanted);
            if (code == Code.NONE || !recover(plan, band, data, missing)) {
                return null;
            }
            if (parities != 0) {
                readAll(plan, band, Layout.all(dataUnits) & ~missing);
                computeAnew(plan, band, parities);
            }
        }
        for (int unit = 0; unit < units; unit++) {
            if (has(wanted, unit)) {
                plan.write(unit, from, band.end, false);
            }
        }
        return plan.build(Method.RECOVER);
    }

    @Override
    public @Nullable Plan verify(int from, int blocks, long unreadable) {
        long readable = Layout.all(units) & ~unreadable;
        long data = Layout.all(dataUnits);
        long redundant = readable & ~data;
        if ((readable & data) != data || redundant == 0) {
            return null;
        }
        var plan = new PlanBuilder();
        var band = new Band(from, from + blocks, 0);
        readAll(plan, band, readable);
        for (int unit = dataUnits; unit < units; unit++) {
            if (has(redundant, unit)) {
                var terms = new ArrayList<Term>();
                terms.add(new Term(unit, false, 1));
                for (int i = 0; i < dataUnits; i++) {
                    terms.add(new Term(i, false, code.factor(unit - dataUnits, i)));
                }
                plan.compute(unit, false, from, band.end, terms);
            }
        }
        return plan.build(Method.DIRECT);
    }
}
