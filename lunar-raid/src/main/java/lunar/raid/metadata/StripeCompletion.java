package lunar.raid.metadata;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.block.BlockDevice;
import lunar.block.MediumException;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Parity;
import lunar.raid.layout.Plan;
import lunar.raid.layout.Planner;
import lunar.raid.metadata.journal.JournalReplay.Torn;
import lunar.raid.metadata.journal.NoSpaceAtStart;
import lunar.raid.metadata.page.ChunkedTransfer;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.record.VolumeDescription;
import lunar.raid.metadata.record.VolumeRecord;
import org.jspecify.annotations.Nullable;

/**
 * Completes the write of a whole stripe of which all units are in place but as many as the level can lose: these are
 * computed from the others. It may be done any number of times. Blocks.
 */
final class StripeCompletion {
    private final VolumeRecord volume;
    private final MemberSet members;
    private final Parity parity = new Parity();

    StripeCompletion(VolumeRecord volume, MemberSet members) {
        this.volume = volume;
        this.members = members;
    }

    /**
     * Completes the write of a torn stripe; not flushed.
     *
     * @return false where too little is in place, or a member has no space for its unit while all units are there: then
     *         the stripe is to be mended otherwise
     * @throws NoSpaceException where a member has no space for its unit, and another unit is missing
     * @throws StorageException where a member fails, which is to be left out then
     */
    boolean complete(Layout layout, Torn torn) throws StorageException {
        long stripe = torn.stripe();
        long lacking = Layout.all(layout.units()) & ~layout.units(stripe, torn.intact());
        long there = lacking & layout.units(stripe, members.active());
        Plan plan = Planner.of(layout).restore(there, 0, layout.chunkBlocks(), lacking);
        if (plan == null) {
            return false;
        }
        try (Arena arena = Arena.ofShared()) {
            var units = new ArrayList<MemorySegment>();
            for (int unit = 0; unit < layout.units(); unit++) {
                units.add(arena.allocate(volume.shape().chunkBytes(), Page.BYTES));
            }
            if (!read(layout, stripe, plan, units)) {
                return false;
            }
            compute(plan, units);
            return write(layout, stripe, plan, units, there != lacking);
        }
    }

    private boolean read(Layout layout, long stripe, Plan plan, List<MemorySegment> units)
            throws StorageException {
        try {
            for (Plan.Transfer read : plan.reads()) {
                BlockDevice device = device(layout, stripe, read.unit());
                if (device == null) {
                    return false;
                }
                ChunkedTransfer.read(device, atBytes(layout, stripe, read.unit()),
                        units.get(read.unit()));
            }
            return true;
        } catch (MediumException _) { // since its checksum was compared
            return false;
        }
    }

    private void compute(Plan plan, List<MemorySegment> units) {
        for (Plan.Computation sum : plan.computations()) {
            parity.clear();
            for (Plan.Term term : sum.terms()) {
                parity.add(units.get(term.unit()), term.factor());
            }
            parity.into(units.get(sum.unit()));
        }
    }

    private boolean write(Layout layout, long stripe, Plan plan, List<MemorySegment> units,
            boolean isDegraded) throws StorageException {
        for (Plan.Transfer write : plan.writes()) {
            BlockDevice device = device(layout, stripe, write.unit());
            try {
                if (device != null) {
                    ChunkedTransfer.write(device, atBytes(layout, stripe, write.unit()),
                            units.get(write.unit()));
                }
            } catch (NoSpaceException e) {
                if (isDegraded) {
                    throw NoSpaceAtStart.of(volume, layout.slot(stripe, write.unit()),
                            "its unit of stripe " + stripe + ", another one of which is lost", e);
                }
                return false;
            }
        }
        return true;
    }

    private @Nullable BlockDevice device(Layout layout, long stripe, int unit) {
        return members.device(layout.slot(stripe, unit));
    }

    private long atBytes(Layout layout, long stripe, int unit) {
        VolumeDescription what = volume.description();
        return what.layout().dataBytes() + layout.memberBlock(stripe, unit) * what.blockSize();
    }
}
