package lunar.raid.engine.stripe;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.BlockRequest.Operation;
import lunar.block.StorageException;
import lunar.raid.engine.member.Member;
import lunar.raid.engine.member.MemberIo;
import lunar.raid.engine.member.Slots;
import lunar.raid.engine.member.Trampoline;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Plan;
import org.jspecify.annotations.Nullable;

/**
 * Repairs ranges that members could not read, under the exclusive lock of their stripe. Works on one physical block at
 * a time, so that a second bad block elsewhere in the stripe does no harm. A block that can be read by itself is left
 * alone, since after a crash another copy may be older; one that cannot is computed from the other members and written
 * back. Reused.
 */
final class ReadRepair implements Runnable, MemberIo.Owner {
    /** Called when the repair has ended. */
    public interface Owner {
        /** @param unreadable units, as bits, that could not be repaired in some range */
        void repaired(long unreadable);
    }

    private enum Phase {
        PROBE, READ, WRITE
    }

    /** Blocks of a unit. */
    private record Range(int unit, int from, int end) {}

    private final StripeEngine engine;
    private final Layout layout;
    private final Owner owner;
    private final StripeBuffers buffers;
    private final ArrayDeque<Range> ranges = new ArrayDeque<>();
    private final List<MemberIo> ios = new ArrayList<>();
    private final AtomicInteger pending = new AtomicInteger();
    private long stripe;
    private long unreadable;
    private long hopeless;
    /** Unreadable units of the current grain, including those that turned out to be unreadable there. */
    private long unreadableHere;
    private Phase phase = Phase.PROBE;
    private Range grain = new Range(0, 0, 0);
    private @Nullable Plan plan;
    private int started;

    /** @param buffers of which the scratch is used */
    ReadRepair(StripeEngine engine, Owner owner, StripeBuffers buffers) {
        this.engine = engine;
        this.layout = engine.layout;
        this.owner = owner;
        this.buffers = buffers;
    }

    /** Begins; {@link Owner#repaired} is called at the end. */
    void start(long stripe, List<MemberIo> failures, long unreadable) {
        this.stripe = stripe;
        this.unreadable = unreadable;
        hopeless = 0;
        ranges.clear();
        for (MemberIo io : failures) {
            int unit = (int) io.tag();
            int from = (int) (io.memberBlock() - layout.memberBlock(stripe, unit));
            int end = from + (int) io.blocks();
            Member member = io.member();
            int grainBlocks = member.device.geometry().physicalBlockSize() / engine.blockSize();
            long first = member.deviceBlock(layout.memberBlock(stripe, unit));
            while (from < end) {
                int within = (int) ((first + from) % grainBlocks);
                int next = Math.min(end, from + grainBlocks - within);
                ranges.add(new Range(unit, from, next));
                from = next;
            }
        }
        nextGrain();
    }

    private void nextGrain() {
        Range next = ranges.poll();
        if (next == null || engine.isClosed()) {
            owner.repaired(hopeless);
            return;
        }
        grain = next;
        phase = Phase.PROBE;
        one(Operation.READ);
    }

    /** Starts a request for the grain itself; if its slot has been lost meanwhile there is nothing to repair. */
    private void one(Operation operation) {
        Slots slots = engine.slots();
        if ((lost(slots) >>> grain.unit & 1) != 0) {
            owner.repaired(hopeless);
            return;
        }
        begin(1);
        io(slots, grain.unit, operation, grain.from, grain.end - grain.from);
        ended();
    }

    /** Returns the units of slots that do not have the stripe: they may become more at any moment. */
    private long lost(Slots slots) {
        return layout.units(stripe, slots.lost(stripe));
    }

    @Override
    public void run() {
        switch (phase) {
            case PROBE -> afterProbe();
            case READ -> afterReads();
            case WRITE -> afterWrite();
        }
    }

    private void afterProbe() {
        StorageException failure = failure();
        if (failure == null) {
            nextGrain();
        } else if (!isInterrupted()) {
            unreadableHere = unreadable;
            readOthers();
        }
    }

    private void readOthers() {
        Slots slots = engine.slots();
        unreadableHere |= lost(slots);
        Plan made = engine.planner.restore(1L << grain.unit, grain.from, grain.end - grain.from,
                unreadableHere);
        plan = made;
        if (made == null) {
            giveUp();
            return;
        }
        phase = Phase.READ;
        begin(made.reads().size());
        for (Plan.Transfer read : made.reads()) {
            io(slots, read.unit(), Operation.READ, read.from(), read.blocks());
        }
        ended();
    }

    private void afterReads() {
        if (failure() == null) {
            buffers.compute(plan());
            phase = Phase.WRITE;
            one(Operation.WRITE);
        } else if (!isInterrupted()) {
            for (int i = 0; i < started; i++) { // another member has a bad block at the same offset
                unreadableHere |= ios.get(i).failure() == null ? 0 : 1L << ios.get(i).tag();
            }
            readOthers();
        }
    }

    private void afterWrite() {
        MemberIo io = ios.getFirst();
        StorageException failure = io.failure();
        if (failure == null) {
            engine.repaired(io.member(), io.memberBlock(), io.blocks());
            nextGrain();
        } else if (StripeEngine.isNoSpace(failure)) { // it reads as before: other units are used
            hopeless |= 1L << grain.unit;
            nextGrain();
        } else {
            boolean _ = engine.fail(io.member(), failure); // a member that takes no writes is of no use
            owner.repaired(hopeless);
        }
    }

    private void giveUp() {
        hopeless |= 1L << grain.unit;
        engine.options.listener().unrecoverable(layout.slot(stripe, grain.unit),
                layout.memberBlock(stripe, grain.unit) + grain.from, grain.end - grain.from);
        nextGrain();
    }

    private @Nullable StorageException failure() {
        for (int i = 0; i < started; i++) {
            if (ios.get(i).failure() != null) {
                return ios.get(i).failure();
            }
        }
        return null;
    }

    /** Whether a member has failed as a whole; then the repair has been ended. */
    private boolean isInterrupted() {
        boolean is = false;
        for (int i = 0; i < started; i++) {
            StorageException failure = ios.get(i).failure();
            if (failure != null && !StripeEngine.isMedium(failure)) {
                boolean _ = engine.fail(ios.get(i).member(), failure);
                is = true;
            }
        }
        if (is) {
            owner.repaired(hopeless);
        }
        return is;
    }

    private Plan plan() {
        Plan made = plan;
        if (made == null) {
            throw new IllegalStateException("no plan");
        }
        return made;
    }

    private void begin(int count) {
        started = 0;
        pending.set(count + 1);
    }

    private void io(Slots slots, int unit, Operation operation, int first, int count) {
        Member member = slots.member(layout.slot(stripe, unit));
        if (member == null) {
            throw new IllegalStateException("no member is in the slot of unit " + unit);
        }
        if (started == ios.size()) {
            ios.add(engine.newIo());
        }
        ios.get(started++).checked(true).start(this, unit, member, operation,
                layout.memberBlock(stripe, unit) + first, count,
                buffers.segment(unit, first, count, false), false);
    }

    @Override
    public void ended(MemberIo io) { ended(); }

    private void ended() {
        if (pending.decrementAndGet() == 0) {
            Trampoline.run(this);
        }
    }
}
