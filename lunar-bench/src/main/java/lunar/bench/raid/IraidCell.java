package lunar.bench.raid;

import lunar.bench.harness.Work;

import java.util.ArrayList;
import java.util.List;
import lunar.bench.filter.FilterLoad.Pattern;
import lunar.bench.filter.FilterLoad.Place;

/**
 * A measurement of the iRAID paper's experiment.
 *
 * @param work workload
 * @param mbits rate of each network port in Mbit/s
 */
record IraidCell(IraidSetup setup, Work work, int mbits) {
    /** Request sizes of the paper. */
    static final List<Integer> SIZES = List.of(4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10);
    /** Networks of the paper. */
    static final List<Integer> MBITS = List.of(10, 100, 1000);
    static final int FAST = 1000;
    static final int SLOW = 10;
    static final int LARGEST = 64 << 10;
    /** Numbers of targets in Figures 8 to 10. */
    static final List<Integer> TARGETS = List.of(1, 2, 3, 4, 6, 8);
    /** Enough for 8 targets to have work at any time, where requests go anywhere. */
    private static final int DEPTH = 192;
    /** On a network that is the bottleneck the queue only takes time to drain. */
    private static final int SLOW_DEPTH = 24;

    static final IraidSetup STRIPED = IraidSetup.striped(4);
    static final IraidSetup PARITY = IraidSetup.parity(4);
    static final IraidSetup NO_JOURNAL = IraidSetup.withoutJournal(4);
    static final IraidSetup DEGRADED = IraidSetup.degraded(4);

    /** Operations that make up the paper's average. */
    enum Operation {
        SEQUENTIAL_READ("sequential read", Place.SEQUENTIAL, false),
        SEQUENTIAL_WRITE("sequential write", Place.SEQUENTIAL, true),
        RANDOM_READ("random read", Place.UNIFORM, false),
        RANDOM_WRITE("random write", Place.UNIFORM, true);

        final String text;
        private final Place place;
        private final boolean writes;

        Operation(String text, Place place, boolean writes) {
            this.text = text;
            this.place = place;
            this.writes = writes;
        }
    }

    /** @param bytes of a request */
    record Work(Operation operation, int bytes) {}

    Pattern pattern() {
        return new Pattern(work.operation.place, work.operation.writes, work.bytes,
                mbits == SLOW ? SLOW_DEPTH : DEPTH, false);
    }

    String name() {
        return setup.name() + ", " + (work.bytes >> 10) + " KiB " + work.operation.text + ", "
                + mbits + " Mbit/s";
    }

    /** All that is measured. */
    static List<IraidCell> all() {
        var cells = new ArrayList<IraidCell>();
        List<IraidSetup> fully = List.of(IraidSetup.TARGET, IraidSetup.striped(2),
                IraidSetup.striped(3), STRIPED, IraidSetup.striped(8), PARITY, NO_JOURNAL,
                DEGRADED);
        for (IraidSetup setup : fully) {
            SIZES.forEach(bytes -> add(cells, setup, bytes, FAST));
        }
        for (IraidSetup setup : List.of(IraidSetup.striped(6), IraidSetup.parity(3),
                IraidSetup.parity(6), IraidSetup.parity(8))) {
            add(cells, setup, LARGEST, FAST);
        }
        for (IraidSetup setup : List.of(IraidSetup.parity(3), PARITY, NO_JOURNAL,
                IraidSetup.parity(6), IraidSetup.parity(8))) {
            cells.add(new IraidCell(setup,
                    new Work(Operation.SEQUENTIAL_WRITE, setup.stripeBytes()), FAST));
        }
        for (IraidSetup setup : List.of(IraidSetup.TARGET, IraidSetup.striped(2), STRIPED,
                IraidSetup.striped(8), PARITY, DEGRADED)) {
            MBITS.stream().filter(mbits -> mbits != FAST)
                    .forEach(mbits -> add(cells, setup, LARGEST, mbits));
        }
        return List.copyOf(cells);
    }

    private static void add(List<IraidCell> cells, IraidSetup setup, int bytes, int mbits) {
        for (Operation operation : Operation.values()) {
            cells.add(new IraidCell(setup, new Work(operation, bytes), mbits));
        }
    }
}
