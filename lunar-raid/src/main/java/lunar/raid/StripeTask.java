package lunar.raid;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import lunar.block.BlockRequest.Operation;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.raid.layout.Code;
import lunar.raid.layout.Forgetting;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Plan;
import org.jspecify.annotations.Nullable;

/**
 * Work on one stripe under its lock: a plan's reads, sums and writes, one phase after the other, again from the start
 * where a member has failed meanwhile. Reused.
 *
 * <p>One thread at a time goes on with it: the one that starts it, and then in each phase the one that ends the last
 * member request. What a range of a member does not give is brought back by a {@link Mending} first.
 */
final class StripeTask implements Runnable, WriteGuard.Ready, StripeChange {
    /** What is to be done. */
    enum Kind {
        /** Data go into the buffer. */
        READ,
        /** Data come out of the buffer. */
        WRITE,
        /** Nothing but the lock is wanted. */
        LOCK,
        /** Units are computed and written, and nothing else changes. */
        RESTORE,
        /** Data of some units are lost: they become zeroes, and parity is made true for that. */
        FORGET,
        /** Redundant units are compared with the data; {@link #difference} is there afterwards. */
        VERIFY
    }

    /** Told when the work is done, or cannot be. The lock is released already, unless it is kept. */
    interface Owner {
        void stripeDone(StripeTask task, @Nullable StorageException failure);
    }

    private enum Phase {
        LOCK, PLAN, READ, KNOWN, GUARD, WRITE, STABLE, FORGET, MEND
    }

    /** What cannot be read although it has been written so often is done without. */
    private static final int MAX_MENDINGS = 4;

    private final Engine engine;
    private final Layout layout;
    private final StripeLocks.Holder lock = new StripeLocks.Holder(this);
    private final StripeBuffers buffers;
    private final MemberIoBatch ios;
    private final Mending mending;
    private @Nullable Object attachment;

    private Owner owner = (_, _) -> {};
    private Kind kind = Kind.READ;
    private Operation operation = Operation.READ;
    private long stripe;
    /** The end of the range that is wanted, and the part of it that is being worked on. */
    private int rangeEnd;
    private int from;
    private int blocks;
    private boolean fua;
    private long wanted;
    private long rebuiltUnit;
    private boolean ownsLock = true;
    private boolean keepsLock;

    private Phase phase = Phase.LOCK;
    private long unwritable;
    private long unreadable;
    /** Units that cannot be read in some range, nor brought back there. */
    private long hopeless;
    private int mendings;
    private @Nullable Plan plan;
    private @Nullable StorageException failure;

    StripeTask(Engine engine) {
        this.engine = engine;
        this.layout = engine.layout;
        this.buffers = new StripeBuffers(engine.layout);
        this.mending = new Mending(engine, this, buffers);
        this.ios = new MemberIoBatch(engine, this);
    }

    // --- beginning ---

    /** A read or write of a range of the stripe's data. UNMAP and WRITE_ZEROES have no buffer. */
    void start(Owner owner, Operation operation, long stripe, int from, int blocks,
            MemorySegment buffer, boolean fua) {
        boolean isRead = operation == Operation.READ;
        boolean carries = isRead || operation == Operation.WRITE;
        set(owner, isRead ? Kind.READ : Kind.WRITE, stripe);
        this.operation = operation;
        setRange(from, blocks);
        buffers.use(carries
                ? buffer
                : engine.zeroes().asSlice(0, (long) blocks * engine.blockSize()), from);
        this.fua = fua;
        lock(!isRead && layout.code() != Code.NONE);
    }

    /** Only locks; whoever called releases it, or goes on. */
    void startLock(Owner owner, long stripe) {
        set(owner, Kind.LOCK, stripe);
        keepsLock = true;
        lock(true);
    }

    /** Computes and writes units of the stripe that is locked, and stays so. */
    void startRestore(Owner owner, long units) {
        startRestore(owner, units, 0, layout.chunkBlocks());
    }

    /** The same, of a range of units. */
    void startRestore(Owner owner, long units, int first, int count) {
        set(owner, Kind.RESTORE, stripe);
        wanted = units;
        setRange(first, count);
        goOn();
    }

    /** Makes zeroes of a range of units whose content is lost, while a unit is being rebuilt, and parity to that. */
    void startForget(Owner owner, int rebuilt, long units, int first, int count) {
        set(owner, Kind.FORGET, stripe);
        wanted = units;
        rebuiltUnit = 1L << rebuilt;
        setRange(first, count);
        goOn();
    }

    /** Units that could not be read, nor brought back, when the plan failed. */
    long beyondReach() {
        return unreadable;
    }

    /** Compares the stripe that is locked, and stays so. */
    void startVerify(Owner owner) {
        set(owner, Kind.VERIFY, stripe);
        goOn();
    }

    private void goOn() {
        phase = Phase.PLAN;
        Trampoline.run(this);
    }

    /** Says that the caller holds the stripe's lock, exclusive, and goes on holding it; before a start. */
    void underLockOfCaller(boolean isHeld) {
        ownsLock = !isHeld;
    }

    /** Releases the lock that was kept. */
    void unlock() {
        keepsLock = false;
        engine.locks.release(lock);
    }

    private void set(Owner owner, Kind kind, long stripe) {
        this.owner = owner;
        this.kind = kind;
        this.stripe = stripe;
        operation = Operation.WRITE;
        setRange(0, layout.stripeBlocks());
        fua = false;
        hopeless = 0;
        mendings = 0;
        failure = null;
    }

    private void setRange(int first, int count) {
        rangeEnd = first + count;
        from = first;
        blocks = count;
    }

    private void lock(boolean exclusive) {
        phase = Phase.PLAN;
        if (!ownsLock || engine.locks.acquire(lock, stripe, exclusive)) {
            Trampoline.run(this);
        }
    }

    /** What is done next. */
    @Override
    public void run() {
        switch (phase) {
            case LOCK -> lock(true);
            case PLAN -> makePlan();
            case READ -> afterReads();
            case KNOWN -> afterKnown();
            case GUARD -> write();
            case WRITE -> afterWrites();
            case STABLE -> afterStable();
            case FORGET -> {
                failure = volumeEnd(); // then it is not stable
                afterLosses();
            }
            case MEND -> throw new IllegalStateException("the mending goes on by itself");
        }
    }

    /** Why no write is taken any more; null while they are. */
    private @Nullable StorageException volumeEnd() {
        StorageException end = engine.membership.end();
        return end == null
                ? null
                : new DeviceGoneException(this + ": " + end.getMessage(), end);
    }

    private void next(Phase next) {
        phase = next;
        Trampoline.run(this);
    }

    // --- plan ---

    /** Under the lock; and again after a member has failed, or a range of it been mended. */
    private void makePlan() {
        if (kind == Kind.LOCK) {
            finish(null);
            return;
        }
        if (engine.isClosed()) {
            finish(engine.gone(this));
            return;
        }
        StorageException end = volumeEnd();
        if (kind != Kind.READ && end != null) {
            finish(end);
            return;
        }
        if (kind == Kind.READ && engine.losses.overlap(stripe, from, rangeEnd - from)) {
            finish(Losses.failure(this));
            return;
        }
        Slots slots = engine.slots();
        unwritable = layout.units(stripe, slots.lost(stripe));
        unreadable = slots.unreadable(layout, stripe) | hopeless;
        blocks = rangeEnd - from;
        if (kind == Kind.WRITE && layout.code().isParity() && !isFullStripe()) {
            blocks = Math.min(blocks, engine.changeBlocks());
        }
        Plan made = switch (kind) {
            case READ -> engine.planner.read(from, blocks, unreadable, preferred(slots));
            case WRITE -> engine.planner.write(from, blocks, unreadable, unwritable);
            case RESTORE -> engine.planner.restore(wanted, from, blocks, unreadable);
            case FORGET -> hopeless != 0
                    ? null
                    : Forgetting.plan(layout, wanted, from, blocks, unwritable & ~rebuiltUnit);
            case VERIFY -> engine.planner.verify(0, layout.chunkBlocks(), unreadable);
            case LOCK -> null;
        };
        plan = made;
        if (made == null) {
            finish(hopeless != 0
                    ? new MediumException(this + ": too much of the stripe cannot be read")
                    : new DeviceGoneException(this + ": too many members are gone"));
            return;
        }
        phase = Phase.READ;
        ios.begin(kind != Kind.READ); // what others are computed from must be right
        for (int i = 0; i < made.reads().size(); i++) { // an iterator would be garbage
            Plan.Transfer read = made.reads().get(i);
            io(read.unit(), member(slots, read.unit()), Operation.READ, read.from(), read.blocks(),
                    buffers.place(read));
        }
        ios.started();
    }

    /** The copy whose member has the least to do. */
    private int preferred(Slots slots) {
        int best = 0;
        if (layout.code() == Code.COPIES) {
            int least = Integer.MAX_VALUE;
            for (int unit = 0; unit < layout.units(); unit++) {
                Member member = slots.member(layout.slot(stripe, unit));
                if ((unreadable >>> unit & 1) == 0 && member != null
                        && member.inFlight() < least) {
                    least = member.inFlight();
                    best = unit;
                }
            }
        }
        return best;
    }

    private @Nullable Member member(Slots slots, int unit) {
        return slots.member(layout.slot(stripe, unit));
    }

    private void io(int unit, @Nullable Member member, Operation operation, int first, int count,
            MemorySegment data) {
        if (member == null) {
            throw new IllegalStateException("nobody is in the slot of unit " + unit);
        }
        ios.start(unit, member, operation, layout.memberBlock(stripe, unit) + first, count, data,
                fua && operation != Operation.READ);
    }

    // --- after the reads ---

    private void afterReads() {
        List<MemberIo> failures = ios.failures();
        if (!failures.isEmpty()) {
            afterFailedReads(failures);
            return;
        }
        Plan now = plan();
        if (kind == Kind.FORGET) {
            for (Plan.Transfer write : now.writes()) {
                buffers.place(write).fill((byte) 0);
            }
        }
        if (!isZeroing() || !isFullStripe()) { // the parity of zeroes is zero
            buffers.compute(now);
        }
        switch (kind) {
            case READ, VERIFY, LOCK -> finish(null);
            case RESTORE -> write();
            case WRITE, FORGET -> {
                phase = Phase.KNOWN;
                if (unwritable != 0 && layout.code().isParity()) {
                    engine.membership.whenStable(this);
                } else {
                    afterKnown();
                }
            }
        }
    }

    /**
     * A change that misses a slot is logged only when a crash would find that the slot has failed: else it would pass
     * for whole, and what was logged without it would come in place on the others alone.
     */
    private void afterKnown() {
        StorageException end = volumeEnd();
        if (end != null) {
            finish(end);
            return;
        }
        phase = Phase.GUARD;
        if (layout.code() == Code.NONE) {
            write();
        } else {
            engine.options.guard().begin(this, this);
        }
    }

    private void afterFailedReads(List<MemberIo> failures) {
        boolean isAgain = false;
        long toMend = 0;
        for (MemberIo io : failures) {
            StorageException cause = cause(io);
            long unit = 1L << io.tag();
            if (engine.isClosed() || layout.code() == Code.NONE) {
                finish(cause);
                return;
            }
            if (!Engine.isMedium(cause)) {
                boolean _ = engine.fail(io.member(), cause);
                isAgain = true;
            } else if (mendings == MAX_MENDINGS) {
                hopeless |= unit;
                isAgain = true;
            } else {
                toMend |= unit;
            }
        }
        if (isAgain || toMend == 0) {
            next(Phase.PLAN);
        } else if (ownsLock && !lock.isExclusive()) {
            engine.locks.release(lock);
            next(Phase.LOCK);
        } else {
            mend(failures);
        }
    }

    private static StorageException cause(MemberIo io) {
        StorageException cause = io.failure();
        if (cause == null) {
            throw new IllegalStateException("has not failed");
        }
        return cause;
    }

    /** Under the exclusive lock: brings back what could not be read, then all begins again. */
    private void mend(List<MemberIo> failures) {
        mendings++;
        phase = Phase.MEND;
        // A copy that may be old is as good as one that is gone; a parity that may be old is not.
        long others = layout.code() == Code.COPIES ? unwritable | hopeless : unreadable;
        mending.start(stripe, failures, others);
    }

    /** The mending has ended: all begins again. */
    void mended(long beyondHope) {
        hopeless |= beyondHope;
        next(Phase.PLAN);
    }

    // --- writes ---

    @Override
    public void ready(@Nullable StorageException refusal) {
        failure = refusal;
        Trampoline.run(this);
    }

    private boolean isZeroing() {
        return operation == Operation.UNMAP || operation == Operation.WRITE_ZEROES;
    }

    private void write() {
        if (failure != null) {
            finish(failure);
            return;
        }
        phase = Phase.WRITE;
        Slots slots = engine.slots();
        long lost = kind != Kind.WRITE ? 0 : layout.units(stripe, slots.lost(stripe));
        List<Plan.Transfer> writes = plan().writes();
        ios.begin();
        for (int i = 0; i < writes.size(); i++) {
            Plan.Transfer write = writes.get(i);
            Member member = member(slots, write.unit());
            if ((lost >>> write.unit() & 1) == 0 && member != null) { // else it has failed since
                Operation how = memberOperation(member);
                io(write.unit(), member, how, write.from(), write.blocks(),
                        how == Operation.WRITE ? data(write) : MemorySegment.NULL);
            }
        }
        ios.started();
    }

    /** Zeroes need not be sent where the member can make them and the parity needs no others. */
    private Operation memberOperation(Member member) {
        if (!isZeroing() || (layout.code().isParity() && !isFullStripe())) {
            return Operation.WRITE;
        }
        Capability needed = operation == Operation.UNMAP
                ? Capability.UNMAP
                : Capability.WRITE_ZEROES;
        return member.device.supports(needed) ? operation : Operation.WRITE;
    }

    private MemorySegment data(Plan.Transfer write) {
        if (isZeroing() && isFullStripe()) {
            return engine.zeroes().asSlice(0, (long) write.blocks() * engine.blockSize());
        }
        return buffers.place(write);
    }

    private void afterWrites() {
        StorageException lastFailure = null;
        boolean survived = true;
        List<MemberIo> failures = ios.failures();
        for (int i = 0; i < failures.size(); i++) {
            MemberIo io = failures.get(i);
            lastFailure = cause(io);
            boolean isOnlyItsRange = layout.code() == Code.COPIES
                    && Engine.isMedium(lastFailure) && isLastCopy(io);
            survived &= !isOnlyItsRange && engine.fail(io.member(), lastFailure);
        }
        failure = survived ? null : lastFailure;
        phase = Phase.STABLE;
        engine.membership.whenStable(this);
    }

    /**
     * Only now that a crash would find who has failed may the guard let go, and the write be acknowledged: a member
     * that has missed it would pass for one that has it.
     */
    private void afterStable() {
        StorageException end = volumeEnd();
        failure = end == null ? failure : end;
        if ((kind == Kind.WRITE || kind == Kind.FORGET) && layout.code() != Code.NONE) {
            engine.options.guard().end(this, failure == null);
        }
        if (kind == Kind.WRITE && failure == null && engine.losses.overlap(stripe, from, blocks)) {
            forgetLosses();
        } else {
            afterLosses();
        }
    }

    /** What was lost has a content again; the write waits until that is stable. */
    private void forgetLosses() {
        phase = Phase.FORGET;
        engine.losses.forget(stripe, from, blocks, () -> Trampoline.run(this));
    }

    private void afterLosses() {
        if (kind == Kind.WRITE && failure == null && from + blocks < rangeEnd) {
            from += blocks;
            next(Phase.PLAN);
        } else {
            finish(failure);
        }
    }

    private boolean isLastCopy(MemberIo io) {
        long others = engine.slots().lost(stripe) | 1L << io.member().slot;
        return Long.bitCount(layout.units(stripe, others)) == layout.units();
    }

    // --- the end ---

    private void releaseLock() {
        if (ownsLock && !keepsLock) {
            engine.locks.release(lock);
        }
    }

    private void finish(@Nullable StorageException cause) {
        releaseLock();
        buffers.use(MemorySegment.NULL, 0);
        owner.stripeDone(this, cause);
    }

    private Plan plan() { return Objects.requireNonNull(plan, "no plan"); }

    /** After a VERIFY: what a redundant unit differs from what it should be. */
    MemorySegment difference(int unit) {
        return buffers.place(unit, 0, layout.chunkBlocks(), false);
    }

    /** Whether no unit was left out. */
    boolean readsEverything() { return unreadable == 0; }

    boolean isRestore() { return kind == Kind.RESTORE; }

    /** Whether a difference is none. */
    boolean isZero(MemorySegment difference) {
        return buffers.isZero(difference);
    }

    // --- what guards see ---

    @Override
    public long stripe() { return stripe; }

    @Override
    public boolean isFullStripe() {
        return kind == Kind.WRITE && unwritable == 0 && from == 0
                && blocks == layout.stripeBlocks();
    }

    @Override
    public boolean fua() { return fua; }

    @Override
    public int writes() { return plan().writes().size(); }

    @Override
    public int slot(int write) { return layout.slot(stripe, plan().writes().get(write).unit()); }

    @Override
    public long memberBlock(int write) {
        Plan.Transfer transfer = plan().writes().get(write);
        return layout.memberBlock(stripe, transfer.unit()) + transfer.from();
    }

    @Override
    public int blocks(int write) { return plan().writes().get(write).blocks(); }

    @Override
    public MemorySegment data(int write) { return data(plan().writes().get(write)); }

    @Override
    public @Nullable Object attachment() { return attachment; }

    @Override
    public void attach(Object attachment) { this.attachment = attachment; }

    @Override
    public String toString() {
        return kind + " of stripe " + stripe + ", blocks " + from + "+" + blocks;
    }
}
