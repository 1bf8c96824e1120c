package lunar.raid;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import lunar.raid.layout.Code;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Parity;
import lunar.raid.layout.Plan;
import org.jspecify.annotations.Nullable;

/**
 * Where the data of a plan are: the buffer of a request, and a scratch with room for each unit of a stripe. Reused.
 */
final class StripeBuffers {
    private final Layout layout;
    private final int blockSize;
    private final Parity parity = new Parity();
    /** Made when it is first needed. */
    private @Nullable MemorySegment scratch;
    private MemorySegment buffer = MemorySegment.NULL;
    private int bufferFrom;

    StripeBuffers(Layout layout) {
        this.layout = layout;
        blockSize = layout.shape().blockSize();
    }

    /** The buffer begins with this block of the stripe's data. */
    void use(MemorySegment buffer, int from) {
        this.buffer = buffer;
        bufferFrom = from;
    }

    /** Blocks of a unit, in the buffer or in the scratch. */
    MemorySegment place(int unit, int first, int count, boolean inBuffer) {
        if (inBuffer) {
            int data = layout.code() == Code.COPIES ? 0 : unit;
            long at = (long) data * layout.chunkBlocks() + first - bufferFrom;
            return buffer.asSlice(at * blockSize, (long) count * blockSize);
        }
        MemorySegment there = scratch;
        if (there == null) {
            there = Arena.ofAuto().allocate(
                    (long) layout.units() * layout.shape().chunkBytes(), 4096);
            scratch = there;
        }
        long at = (long) unit * layout.chunkBlocks() + first;
        return there.asSlice(at * blockSize, (long) count * blockSize);
    }

    MemorySegment place(Plan.Transfer transfer) {
        return place(transfer.unit(), transfer.from(), transfer.blocks(), transfer.buffer());
    }

    /** Does the computations of a plan whose reads have been done. */
    void compute(Plan plan) {
        for (Plan.Sum sum : plan.sums()) {
            parity.clear();
            for (Plan.Term term : sum.terms()) {
                parity.add(place(term.unit(), sum.from(), sum.blocks(), term.buffer()),
                        term.factor());
            }
            parity.into(place(sum.unit(), sum.from(), sum.blocks(), sum.buffer()));
        }
    }

    boolean isZero(MemorySegment segment) { return parity.isZero(segment); }
}
