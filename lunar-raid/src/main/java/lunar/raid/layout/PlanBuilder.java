package lunar.raid.layout;

import java.util.ArrayList;
import java.util.List;
import lunar.raid.layout.Plan.Computation;
import lunar.raid.layout.Plan.Term;
import lunar.raid.layout.Plan.Transfer;

/** Builds a plan. Transfers of one unit that touch or overlap become one. */
final class PlanBuilder {
    private final List<Transfer> reads = new ArrayList<>();
    private final List<Computation> computations = new ArrayList<>();
    private final List<Transfer> writes = new ArrayList<>();

    void read(int unit, int from, int end, boolean buffer) { add(reads, unit, from, end, buffer); }

    void write(int unit, int from, int end, boolean buffer) {
        add(writes, unit, from, end, buffer);
    }

    void compute(int unit, boolean buffer, int from, int end, List<Term> terms) {
        computations.add(new Computation(unit, buffer, from, end - from, List.copyOf(terms)));
    }

    /** Adds a transfer. Bands come in ascending order, so a transfer that grows does so at its end. */
    private static void add(List<Transfer> transfers, int unit, int from, int end,
            boolean buffer) {
        for (int i = 0; i < transfers.size(); i++) {
            Transfer old = transfers.get(i);
            if (old.unit() == unit && old.buffer() == buffer && old.from() <= end
                    && from <= old.end()) {
                int first = Math.min(from, old.from());
                transfers.set(i,
                        new Transfer(unit, first, Math.max(end, old.end()) - first, buffer));
                return;
            }
        }
        transfers.add(new Transfer(unit, from, end - from, buffer));
    }

    Plan build(Plan.Method method) { return new Plan(method, reads, computations, writes); }
}
