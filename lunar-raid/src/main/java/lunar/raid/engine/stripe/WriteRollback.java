package lunar.raid.engine.stripe;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import lunar.block.BlockRequest.Operation;
import lunar.block.Capability;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.raid.engine.member.Member;
import lunar.raid.engine.member.MemberIo;
import lunar.raid.engine.member.MemberIoBatch;
import lunar.raid.engine.member.Slots;
import lunar.raid.layout.Code;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Plan;
import org.jspecify.annotations.Nullable;

/**
 * Makes a stripe consistent again, under its exclusive lock, after a write for which some members had no space. Each
 * block that a member did not take is as it was; what needs no new space is made consistent with that. Copies become
 * what the full member has. Parity that was written is computed from the data again. If parity was not written, the
 * data that were written are computed back from it, as long as these are few enough. If all members were full, which
 * may have taken parts of the write, the units are compared.
 *
 * <p>If a slot is lost, and parity is all that is left of its data, none of that is possible: then, if members may run
 * out of space, what a write overwrites is read before ({@link #save}), and put back. Reused.
 */
final class WriteRollback implements Runnable {
    /** Called when a step has ended. */
    public interface Owner {
        /** Called when the content that the write overwrites has been read, as far as it can be. */
        void saved();

        /** @param isConsistent whether the redundancy of the stripe is that of its data again */
        void undone(boolean isConsistent);
    }

    private final StripeEngine engine;
    private final Layout layout;
    private final Owner owner;
    private final StripeBuffers buffers;
    private final MemberIoBatch ios;
    private enum Phase {
        SAVE, READ, COMPARE, WRITE, PUT_BACK
    }

    private long stripe;
    private Phase phase = Phase.READ;
    private long full;
    /** The previous content, by unit; null if it was never needed. */
    private @Nullable MemorySegment before;
    /** Whether {@link #before} belongs to the write that is under way. */
    private boolean isSaved;
    private @Nullable Plan plan;

    /** @param buffers of which the scratch is used */
    WriteRollback(StripeEngine engine, Owner owner, StripeBuffers buffers) {
        this.engine = engine;
        this.layout = engine.layout;
        this.owner = owner;
        this.buffers = buffers;
        ios = new MemberIoBatch(engine::newIo, this);
    }

    /** Whether {@link #save} must be called before a write of a stripe. */
    boolean mustSave(long stripe) {
        isSaved = false;
        if (!layout.code().isParity()) {
            return false;
        }
        Slots slots = engine.slots();
        long lost = layout.units(stripe, slots.lost(stripe));
        boolean isThin = false;
        for (int unit = 0; lost != 0 && unit < layout.units(); unit++) {
            Member member = slots.member(layout.slot(stripe, unit));
            isThin |= member != null && member.device.supports(Capability.UNMAP);
        }
        return isThin;
    }

    /** Reads what a write is to overwrite; calls {@link Owner#saved} at the end. */
    void save(long stripe, Plan change) {
        this.stripe = stripe;
        if (before == null) {
            before = Arena.ofAuto()
                    .allocate((long) layout.units() * layout.shape().chunkBytes(), 4096);
        }
        phase = Phase.SAVE;
        all(change, Operation.READ);
    }

    private void all(Plan change, Operation how) {
        plan = change;
        Slots slots = engine.slots();
        long lost = layout.units(stripe, slots.lost(stripe));
        ios.begin();
        for (Plan.Transfer write : change.writes()) {
            if ((lost >>> write.unit() & 1) == 0) {
                start(slots, write, how, old(write));
            }
        }
        ios.started();
    }

    private MemorySegment old(Plan.Transfer write) {
        long at = (long) write.unit() * layout.chunkBlocks() + write.from();
        return Objects.requireNonNull(before).asSlice(at * engine.blockSize(),
                (long) write.blocks() * engine.blockSize());
    }

    /**
     * Begins; {@link Owner#undone} is called at the end.
     *
     * @param full units that had no space on their members
     * @param change the plan of the write
     */
    void start(long stripe, long full, Plan change) {
        this.stripe = stripe;
        this.full = full;
        if (isSaved) {
            phase = Phase.PUT_BACK;
            all(change, Operation.WRITE);
            return;
        }
        long written = 0;
        int from = layout.chunkBlocks();
        int end = 0;
        for (Plan.Transfer write : change.writes()) {
            written |= 1L << write.unit() & ~full;
            from = Math.min(from, write.from());
            end = Math.max(end, write.from() + write.blocks());
        }
        Slots slots = engine.slots();
        long lost = layout.units(stripe, slots.lost(stripe));
        written &= ~lost;
        boolean isStale = slots.isStale(stripe);
        Plan made = written == 0
                ? null
                : plan(isStale, full & ~lost, written, lost, from, end - from);
        if (made != null) {
            phase = Phase.READ;
            read(slots, made);
        } else if (written == 0 && !isStale) {
            compare(slots, lost, from, end - from);
        } else {
            owner.undone(false);
        }
    }

    /** No unit was written, but full members may have taken parts: the stripe is consistent if these are alike. */
    private void compare(Slots slots, long lost, int from, int blocks) {
        if (Long.bitCount(full) == 1 && isMirror()) {
            owner.undone(true); // it is the only copy
            return;
        }
        Plan made = engine.planner.verify(from, blocks, lost);
        if (made == null) {
            owner.undone(false);
            return;
        }
        phase = Phase.COMPARE;
        read(slots, made);
    }

    private void read(Slots slots, Plan made) {
        plan = made;
        ios.begin(true);
        for (Plan.Transfer read : made.reads()) {
            start(slots, read, Operation.READ, buffers.segment(read));
        }
        ios.started();
    }

    private boolean isMirror() { return layout.code() == Code.COPIES; }

    /** Plans the undoing; null if impossible. In a stripe that is stale already only data, or the first copy, count. */
    private @Nullable Plan plan(boolean isStale, long full, long written, long lost, int from,
            int blocks) {
        long all = Layout.all(layout.units());
        if (isMirror()) {
            boolean isFirst = full == Long.lowestOneBit(all & ~lost);
            return Long.bitCount(full) == 1 && (isFirst || !isStale)
                    ? engine.planner.restore(written, from, blocks, all & ~full)
                    : null;
        }
        long parities = all & ~Layout.all(layout.dataUnits());
        if ((full & parities) == 0 && (parities & ~lost) != 0) {
            return engine.planner.restore(parities & ~lost, from, blocks, lost | parities);
        }
        return Long.bitCount(full) == 1 && !isStale
                ? engine.planner.restore(written, from, blocks, lost | written)
                : null;
    }

    private void start(Slots slots, Plan.Transfer transfer, Operation how,
            MemorySegment data) {
        Member member = slots.member(layout.slot(stripe, transfer.unit()));
        if (member == null) {
            throw new IllegalStateException("no member is in the slot of unit " + transfer.unit());
        }
        ios.start(transfer.unit(), member, how,
                layout.memberBlock(stripe, transfer.unit()) + transfer.from(), transfer.blocks(),
                data, false);
    }

    @Override
    public void run() {
        switch (phase) {
            case SAVE -> {
                isSaved = ios.failures().isEmpty(); // else the write will report the error
                owner.saved();
            }
            case READ, COMPARE -> afterReads();
            case WRITE, PUT_BACK -> afterWrites();
        }
    }

    private void afterReads() {
        Plan made = Objects.requireNonNull(plan);
        if (!ios.failures().isEmpty()) {
            giveUpBroken();
            owner.undone(false);
            return;
        }
        buffers.compute(made);
        if (phase == Phase.COMPARE) {
            owner.undone(made.computations().stream().allMatch(difference -> buffers.isZero(
                    buffers.segment(difference.unit(), difference.from(), difference.blocks(),
                            false))));
            return;
        }
        phase = Phase.WRITE;
        Slots slots = engine.slots();
        long lost = layout.units(stripe, slots.lost(stripe));
        ios.begin();
        for (Plan.Transfer write : made.writes()) {
            if ((lost >>> write.unit() & 1) == 0) {
                start(slots, write, Operation.WRITE, buffers.segment(write));
            }
        }
        ios.started();
    }

    /** A member that had no space still has the previous content beyond the part that it took. */
    private void afterWrites() {
        boolean isConsistent = giveUpBroken();
        for (MemberIo io : ios.failures()) {
            boolean isNoSpace = io.failure() instanceof NoSpaceException;
            boolean wasFull = phase == Phase.PUT_BACK && (full >>> io.tag() & 1) != 0;
            isConsistent &= !isNoSpace || wasFull;
        }
        owner.undone(isConsistent);
    }

    /** Fails members with errors other than a lack of space; returns false if the volume cannot do without one. */
    private boolean giveUpBroken() {
        boolean survives = true;
        for (MemberIo io : ios.failures()) {
            StorageException why = Objects.requireNonNull(io.failure());
            boolean isRead = (phase == Phase.READ || phase == Phase.COMPARE)
                    && StripeEngine.isMedium(why);
            if (!isRead && !StripeEngine.isNoSpace(why)) {
                survives &= engine.fail(io.member(), why);
            }
        }
        return survives;
    }
}
