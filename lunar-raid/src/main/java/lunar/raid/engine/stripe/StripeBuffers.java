package lunar.raid.engine.stripe;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import lunar.raid.layout.Code;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Parity;
import lunar.raid.layout.Plan;
import org.jspecify.annotations.Nullable;

/**
 * The memory of a plan: the buffer of a request, and a scratch with room for each unit of a stripe. Reused.
 */
public final class StripeBuffers {
    /** Slices of a unit that are kept: for 64 KiB one per 4 KiB. */
    private static final int PARTS_OF_UNIT = 16;

    private final Layout layout;
    private final int blockSize;
    private final Parity parity = new Parity();
    private final SliceCache ofBuffer;
    private final SliceCache ofScratch;
    /** Allocated when it is first needed. */
    private @Nullable MemorySegment scratch;
    private MemorySegment buffer = MemorySegment.NULL;
    private int bufferFrom;

    public StripeBuffers(Layout layout) {
        this.layout = layout;
        blockSize = layout.shape().blockSize();
        ofBuffer = new SliceCache(layout.units());
        ofScratch = new SliceCache(layout.units() * PARTS_OF_UNIT);
    }

    /** Sets the buffer, which begins with this block of the stripe's data. */
    public void use(MemorySegment buffer, int from) {
        this.buffer = buffer;
        bufferFrom = from;
    }

    /** Returns the memory of blocks of a unit, in the buffer or in the scratch. */
    public MemorySegment segment(int unit, int first, int count, boolean inBuffer) {
        if (inBuffer) {
            int data = layout.code() == Code.COPIES ? 0 : unit;
            long at = (long) data * layout.chunkBlocks() + first - bufferFrom;
            return ofBuffer.of(buffer, unit, at * blockSize, (long) count * blockSize);
        }
        MemorySegment there = scratch;
        if (there == null) {
            there = Arena.ofAuto().allocate(
                    (long) layout.units() * layout.shape().chunkBytes(), 4096);
            scratch = there;
        }
        long at = (long) unit * layout.chunkBlocks() + first;
        return ofScratch.of(there, unit * PARTS_OF_UNIT + first / count % PARTS_OF_UNIT,
                at * blockSize, (long) count * blockSize);
    }

    public MemorySegment segment(Plan.Transfer transfer) {
        return segment(transfer.unit(), transfer.from(), transfer.blocks(), transfer.buffer());
    }

    /** Performs the computations of a plan after its reads have ended. */
    public void compute(Plan plan) {
        for (int i = 0; i < plan.computations().size(); i++) { // an iterator would be garbage
            Plan.Computation result = plan.computations().get(i);
            parity.clear();
            for (int j = 0; j < result.terms().size(); j++) {
                Plan.Term term = result.terms().get(j);
                parity.add(segment(term.unit(), result.from(), result.blocks(), term.buffer()),
                        term.factor());
            }
            parity.into(segment(result.unit(), result.from(), result.blocks(), result.buffer()));
        }
    }

    boolean isZero(MemorySegment segment) { return parity.isZero(segment); }
}
