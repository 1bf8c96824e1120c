package lunar.raid.engine.stripe;

import lunar.block.BlockRequest.Operation;
import lunar.raid.engine.member.Slots;
import lunar.raid.layout.Layout;
import lunar.raid.layout.LostUnitPlanner;
import lunar.raid.layout.Plan;
import org.jspecify.annotations.Nullable;

/** The work of a {@link StripeTask}: its kind, its stripe and its range, which is worked on in parts. Reused. */
final class StripeJob {
    private final StripeEngine engine;
    private final Layout layout;
    private StripeWork kind = StripeWork.READ;
    private Operation operation = Operation.READ;
    private long stripe;
    private boolean fua;
    /** End of the requested range; the next two are the part of it that is being worked on. */
    private int rangeEnd;
    private int from;
    private int blocks;
    /** Units that are to be restored or zeroed. */
    private long wanted;
    /** The unit that is being rebuilt while others are zeroed. */
    private long rebuiltUnit;

    StripeJob(StripeEngine engine) {
        this.engine = engine;
        layout = engine.layout;
    }

    /** Begins a job for the data of a stripe; further setters narrow it down. */
    void begin(StripeWork kind, long stripe) {
        this.kind = kind;
        this.stripe = stripe;
        operation = Operation.WRITE;
        setRange(0, layout.stripeBlocks());
        fua = false;
    }

    void setOperation(Operation operation) { this.operation = operation; }

    void setFua(boolean fua) { this.fua = fua; }

    void setRange(int first, int count) {
        rangeEnd = first + count;
        from = first;
        blocks = count;
    }

    /** Sets the units to restore or to zero, and the one that is being rebuilt meanwhile, all as bits. */
    void setUnits(long wanted, long rebuilt) {
        this.wanted = wanted;
        rebuiltUnit = rebuilt;
    }

    StripeWork kind() { return kind; }

    Operation operation() { return operation; }

    long stripe() { return stripe; }

    boolean fua() { return fua; }

    long wanted() { return wanted; }

    /** Returns the first block of the part that is being worked on. */
    int from() { return from; }

    /** Returns the number of blocks of the part that is being worked on. */
    int blocks() {
        return blocks;
    }

    /** Returns the number of blocks from the part that is being worked on to the end of the range. */
    int blocksLeft() {
        return rangeEnd - from;
    }

    /** Whether the job changes data, which a guard has to know. */
    boolean isChange() {
        return kind == StripeWork.WRITE || kind == StripeWork.ZERO_LOST;
    }

    boolean isZeroing() {
        return operation == Operation.UNMAP || operation == Operation.WRITE_ZEROES;
    }

    /** Whether the part is a write of all data of the stripe to units that can all be written. */
    boolean isFullStripe(long unwritable) {
        return kind == StripeWork.WRITE && unwritable == 0 && from == 0
                && blocks == layout.stripeBlocks();
    }

    /** Chooses the part to work on, from where the last one began: as much as a guard takes at once. */
    void choosePart(long unwritable) {
        blocks = rangeEnd - from;
        if (kind == StripeWork.WRITE && layout.code().isParity() && !isFullStripe(unwritable)) {
            blocks = Math.min(blocks, engine.changeBlocks());
        }
    }

    /** Goes on to what is left of the range; returns false if nothing is. */
    boolean nextPart() {
        if (from + blocks >= rangeEnd) {
            return false;
        }
        from += blocks;
        return true;
    }

    /**
     * Plans the part.
     *
     * @param hopeless units that can neither be read nor repaired in some range
     * @return null if too many units are unavailable
     */
    @Nullable
    Plan plan(Slots slots, long unreadable, long unwritable, long hopeless) {
        return switch (kind) {
            case READ -> engine.planner.read(from, blocks, unreadable,
                    slots.idlest(layout, stripe, unreadable));
            case WRITE -> engine.planner.write(from, blocks, unreadable, unwritable);
            case RESTORE -> engine.planner.restore(wanted, from, blocks, unreadable);
            case ZERO_LOST -> hopeless != 0
                    ? null
                    : LostUnitPlanner.plan(layout, wanted, from, blocks,
                            unwritable & ~rebuiltUnit);
            case VERIFY -> engine.planner.verify(0, layout.chunkBlocks(), unreadable);
            case LOCK -> null;
        };
    }

    @Override
    public String toString() {
        return kind + " of stripe " + stripe + ", blocks " + from + "+" + blocks;
    }
}
