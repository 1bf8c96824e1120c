package lunar.raid.layout;

import java.util.ArrayList;
import java.util.List;
import lunar.raid.layout.Plan.Method;
import lunar.raid.layout.Plan.Term;

/** Plans the replacement of lost data: they count as zeroes, and parity is computed for that. */
public final class LostUnitPlanner {
    private LostUnitPlanner() {}

    /**
     * Plans a range of a stripe with lost data. The scratch of these, and that of parities, is to be filled with zeroes
     * before the sums are computed.
     *
     * @param lost data units, or copies, that have lost their content in the range
     * @param unwritable units that cannot be written
     */
    public static Plan plan(Layout layout, long lost, int from, int blocks, long unwritable) {
        var plan = new PlanBuilder();
        int end = from + blocks;
        for (int unit = 0; unit < layout.units(); unit++) {
            if (((lost & ~unwritable) >>> unit & 1) != 0) {
                plan.write(unit, from, end, false);
            }
        }
        if (!layout.code().isParity()) {
            return plan.build(Method.RECOVER);
        }
        for (int unit = 0; unit < layout.dataUnits(); unit++) {
            if ((lost >>> unit & 1) == 0) {
                plan.read(unit, from, end, false);
            }
        }
        for (int unit = layout.dataUnits(); unit < layout.units(); unit++) {
            if ((unwritable >>> unit & 1) == 0) {
                List<Term> terms = terms(layout, lost, unit - layout.dataUnits());
                if (!terms.isEmpty()) {
                    plan.compute(unit, false, from, end, terms);
                }
                plan.write(unit, from, end, false);
            }
        }
        return plan.build(Method.RECOVER);
    }

    private static List<Term> terms(Layout layout, long lost, int redundant) {
        var terms = new ArrayList<Term>();
        for (int data = 0; data < layout.dataUnits(); data++) {
            if ((lost >>> data & 1) == 0) {
                terms.add(new Term(data, false, layout.code().factor(redundant, data)));
            }
        }
        return terms;
    }
}
