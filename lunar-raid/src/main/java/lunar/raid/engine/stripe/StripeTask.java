package lunar.raid.engine.stripe;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import lunar.block.BlockRequest.Operation;
import lunar.block.DeviceGoneException;
import lunar.block.MediumException;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.raid.StripeChange;
import lunar.raid.WriteGuard;
import lunar.raid.engine.member.Member;
import lunar.raid.engine.member.MemberIo;
import lunar.raid.engine.member.MemberIoBatch;
import lunar.raid.engine.member.Slots;
import lunar.raid.engine.member.Trampoline;
import lunar.raid.layout.Code;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Plan;
import org.jspecify.annotations.Nullable;

/**
 * Work on one stripe under its lock: a plan's reads, sums and writes, one phase after the other, restarted if a member
 * has failed meanwhile. Reused.
 *
 * <p>One thread at a time runs it: the one that starts it, and then in each phase the one that ends the last member
 * request. Ranges that a member cannot read are repaired by a {@link ReadRepair} first.
 */
public final class StripeTask
        implements Runnable, WriteGuard.Ready, StripeChange, ReadRepair.Owner, WriteRollback.Owner {
    /** Called when the work is done or has failed. The lock has been released already, unless it is kept. */
    public interface Owner {
        void stripeDone(StripeTask task, @Nullable StorageException failure);
    }

    private enum Phase {
        LOCK,
        PLAN,
        READ,
        KNOWN,
        GUARD,
        WRITE,
        ROLL_BACK,
        HALF_WRITTEN,
        STABLE,
        FORGET_LOSSES,
        REPAIR
    }

    /** Read repairs after which units that still cannot be read are done without. */
    private static final int MAX_REPAIRS = 4;

    private final StripeEngine engine;
    private final Layout layout;
    private final StripeLocks.Holder lock = new StripeLocks.Holder(this);
    private final StripeBuffers buffers;
    private final MemberIoBatch ios;
    private final ReadRepair readRepair;
    private final WriteRollback rollback;
    private @Nullable Object attachment;

    private Owner owner = (_, _) -> {};
    private final StripeJob job;
    private boolean ownsLock = true;
    private boolean keepsLock;

    private Phase phase = Phase.LOCK;
    private long unwritable;
    private long unreadable;
    /** Units that can neither be read nor repaired in some range. */
    private long hopeless;
    private int repairs;
    private @Nullable Plan plan;
    private @Nullable StorageException failure;
    /** Whether a write, even a failed one, has left nothing to be put right. */
    private boolean isSettled;
    /** Whether a write has been put back, as far as possible, since members had no space. */
    private boolean isUndone;

    public StripeTask(StripeEngine engine) {
        this.engine = engine;
        this.layout = engine.layout;
        this.job = new StripeJob(engine);
        this.buffers = new StripeBuffers(engine.layout);
        this.readRepair = new ReadRepair(engine, this, buffers);
        this.rollback = new WriteRollback(engine, this, buffers);
        this.ios = new MemberIoBatch(engine::newIo, this);
    }

    // --- start ---

    /** Starts a read or write of a range of the stripe's data. UNMAP and WRITE_ZEROES have no buffer. */
    void start(Owner owner, Operation operation, long stripe, int from, int blocks,
            MemorySegment buffer, boolean fua) {
        boolean isRead = operation == Operation.READ;
        boolean carries = isRead || operation == Operation.WRITE;
        set(owner, isRead ? StripeWork.READ : StripeWork.WRITE, stripe);
        job.setOperation(operation);
        job.setRange(from, blocks);
        buffers.use(carries
                ? buffer
                : engine.zeroes().asSlice(0, (long) blocks * engine.blockSize()), from);
        job.setFua(fua);
        lock(!isRead && layout.code() != Code.NONE);
    }

    /** Takes the lock only; the caller releases it, or goes on. */
    public void startLock(Owner owner, long stripe) {
        set(owner, StripeWork.LOCK, stripe);
        keepsLock = true;
        lock(true);
    }

    /** Computes and writes units of the stripe, which is locked and stays so. */
    public void startRestore(Owner owner, long units) {
        startRestore(owner, units, 0, layout.chunkBlocks());
    }

    /** Like {@link #startRestore(Owner, long)}, but for a range of the units. */
    public void startRestore(Owner owner, long units, int first, int count) {
        set(owner, StripeWork.RESTORE, job.stripe());
        job.setUnits(units, 0);
        job.setRange(first, count);
        goOn();
    }

    /** Zeroes a range of units that have lost their content while a unit is rebuilt, and computes parity for that. */
    public void startZeroLost(Owner owner, int rebuilt, long units, int first, int count) {
        set(owner, StripeWork.ZERO_LOST, job.stripe());
        job.setUnits(units, 1L << rebuilt);
        job.setRange(first, count);
        goOn();
    }

    /** Returns the units that could neither be read nor repaired when the plan failed. */
    public long beyondReach() {
        return unreadable;
    }

    /** Compares the stripe, which is locked and stays so. */
    public void startVerify(Owner owner) {
        set(owner, StripeWork.VERIFY, job.stripe());
        goOn();
    }

    private void goOn() {
        phase = Phase.PLAN;
        Trampoline.run(this);
    }

    /** Sets whether the caller holds the stripe's exclusive lock itself, and keeps it; called before a start. */
    void underLockOfCaller(boolean isHeld) {
        ownsLock = !isHeld;
    }

    /** Releases the lock that was kept. */
    public void unlock() {
        keepsLock = false;
        engine.locks.release(lock);
    }

    private void set(Owner owner, StripeWork kind, long stripe) {
        this.owner = owner;
        job.begin(kind, stripe);
        hopeless = 0;
        repairs = 0;
        failure = null;
        isUndone = false;
    }

    private void lock(boolean exclusive) {
        phase = Phase.PLAN;
        if (!ownsLock || engine.locks.acquire(lock, job.stripe(), exclusive)) {
            Trampoline.run(this);
        }
    }

    /** Runs the next phase. */
    @Override
    public void run() {
        switch (phase) {
            case LOCK -> lock(true);
            case PLAN -> makePlan();
            case READ -> afterReads();
            case KNOWN -> afterKnown();
            case GUARD -> write();
            case WRITE -> afterWrites();
            case HALF_WRITTEN -> stable();
            case STABLE -> afterStable();
            case FORGET_LOSSES -> {
                failure = engine.membership.end(this); // then it is not stable
                afterLosses();
            }
            case ROLL_BACK, REPAIR -> throw new IllegalStateException(phase + " goes on by itself");
        }
    }

    private void next(Phase next) {
        phase = next;
        Trampoline.run(this);
    }

    // --- plan ---

    /** Plans under the lock; again after a member has failed, or a range of it has been repaired. */
    private void makePlan() {
        if (job.kind() == StripeWork.LOCK) {
            finish(null);
            return;
        }
        if (engine.isClosed()) {
            finish(engine.gone(this));
            return;
        }
        StorageException end = engine.membership.end(this);
        if (job.kind() != StripeWork.READ && end != null) {
            finish(end);
            return;
        }
        if (job.kind() == StripeWork.READ
                && engine.losses.overlap(job.stripe(), job.from(), job.blocksLeft())) {
            finish(VolumeBadBlocks.failure(this));
            return;
        }
        Slots slots = engine.slots();
        unwritable = layout.units(job.stripe(), slots.lost(job.stripe()));
        unreadable = slots.unreadable(layout, job.stripe()) | hopeless;
        if (job.kind() == StripeWork.ZERO_LOST && layout.code().isParity()) { // members may have failed since: more is lost
            hopeless |= unreadable & ~job.wanted() & Layout.all(layout.dataUnits());
        }
        job.choosePart(unwritable);
        Plan made = job.plan(slots, unreadable, unwritable, hopeless);
        plan = made;
        if (made == null) {
            finish(hopeless != 0 || slots.isHalfWritten(job.stripe())
                    ? new MediumException(this + ": too much of the stripe cannot be read")
                    : new DeviceGoneException(this + ": too many members are gone"));
            return;
        }
        if (job.kind() == StripeWork.WRITE && slots.refusesWrite(job.stripe())
                && !freesSpace(slots, made)) {
            finish(new NoSpaceException(this + ": too many stripes wait until members have space"
                    + " for their redundancy; give them some"));
            return;
        }
        phase = Phase.READ;
        ios.begin(job.kind() != StripeWork.READ); // units that others are computed from must be right
        for (int i = 0; i < made.reads().size(); i++) { // an iterator would be garbage
            Plan.Transfer read = made.reads().get(i);
            io(read.unit(), member(slots, read.unit()), Operation.READ, read.from(), read.blocks(),
                    buffers.segment(read));
        }
        ios.started();
    }

    /** Whether all writes of a plan unmap. */
    private boolean freesSpace(Slots slots, Plan made) {
        return job.operation() == Operation.UNMAP && made.writes().stream()
                .map(write -> member(slots, write.unit()))
                .allMatch(one -> one == null || memberOperation(one) == Operation.UNMAP);
    }

    private @Nullable Member member(Slots slots, int unit) {
        return slots.member(layout.slot(job.stripe(), unit));
    }

    private void io(int unit, @Nullable Member member, Operation operation, int first, int count,
            MemorySegment data) {
        if (member == null) {
            throw new IllegalStateException("no member is in the slot of unit " + unit);
        }
        ios.start(unit, member, operation, layout.memberBlock(job.stripe(), unit) + first, count,
                data,
                job.fua() && operation != Operation.READ);
    }

    // --- after the reads ---

    private void afterReads() {
        List<MemberIo> failures = ios.failures();
        if (!failures.isEmpty()) {
            afterFailedReads(failures);
            return;
        }
        Plan now = plan();
        if (job.kind() == StripeWork.READ && !now.reads().isEmpty() && engine.slots()
                .isUncertain(layout, job.stripe(), now.reads().getFirst().unit())) {
            next(Phase.PLAN);
            return;
        }
        if (job.kind() == StripeWork.ZERO_LOST) {
            for (Plan.Transfer write : now.writes()) {
                buffers.segment(write).fill((byte) 0);
            }
        }
        if (!job.isZeroing() || !job.isFullStripe(unwritable)) { // the parity of zeroes is zero
            buffers.compute(now);
        }
        switch (job.kind()) {
            case READ, VERIFY, LOCK -> finish(null);
            case RESTORE -> write();
            case WRITE, ZERO_LOST -> {
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
     * A change that misses a slot is logged only when the slot's failure is stable: else after a crash the slot would
     * count as whole, and what was logged without it would be replayed on the others alone.
     */
    private void afterKnown() {
        StorageException end = engine.membership.end(this);
        if (end != null) {
            finish(end);
            return;
        }
        if (layout.code() == Code.NONE) {
            write();
        } else if (rollback.mustSave(job.stripe())) {
            phase = Phase.ROLL_BACK;
            rollback.save(job.stripe(), plan());
        } else {
            saved();
        }
    }

    /** Goes on to the guard; called directly if nothing is to be saved. */
    @Override
    public void saved() {
        phase = Phase.GUARD;
        engine.options.guard().begin(this, this);
    }

    private void afterFailedReads(List<MemberIo> failures) {
        boolean isAgain = false;
        long toRepair = 0;
        for (MemberIo io : failures) {
            StorageException cause = cause(io);
            long unit = 1L << io.tag();
            if (engine.isClosed() || layout.code() == Code.NONE) {
                finish(cause);
                return;
            }
            if (!StripeEngine.isMedium(cause)) {
                boolean _ = engine.fail(io.member(), cause);
                isAgain = true;
            } else if (repairs == MAX_REPAIRS) {
                hopeless |= unit;
                isAgain = true;
            } else {
                toRepair |= unit;
            }
        }
        if (isAgain || toRepair == 0) {
            next(Phase.PLAN);
        } else if (ownsLock && !lock.isExclusive()) {
            engine.locks.release(lock);
            next(Phase.LOCK);
        } else {
            repair(failures);
        }
    }

    private static StorageException cause(MemberIo io) {
        StorageException cause = io.failure();
        if (cause == null) {
            throw new IllegalStateException("has not failed");
        }
        return cause;
    }

    /** Repairs, under the exclusive lock, ranges that could not be read; then the task starts again. */
    private void repair(List<MemberIo> failures) {
        repairs++;
        phase = Phase.REPAIR;
        // Copies that may be old can be used here; a parity that may be old cannot.
        long others = layout.code() == Code.COPIES ? unwritable | hopeless : unreadable;
        readRepair.start(job.stripe(), failures, others);
    }

    /** Starts the task again. */
    @Override
    public void repaired(long beyondHope) {
        hopeless |= beyondHope;
        next(Phase.PLAN);
    }

    // --- writes ---

    @Override
    public void ready(@Nullable StorageException refusal) {
        failure = refusal == null ? failure : refusal;
        Trampoline.run(this);
    }

    private void write() {
        if (failure != null) {
            finish(failure);
            return;
        }
        phase = Phase.WRITE;
        Slots slots = engine.slots();
        long lost = job.kind() != StripeWork.WRITE
                ? 0
                : layout.units(job.stripe(), slots.lost(job.stripe()));
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

    /** Returns the operation for a member: zeroes need not be sent if it can make them and parity needs no others. */
    private Operation memberOperation(Member member) {
        return job.isZeroing() && (!layout.code().isParity() || job.isFullStripe(unwritable))
                ? member.zeroing(job.operation())
                : Operation.WRITE;
    }

    private MemorySegment data(Plan.Transfer write) {
        if (job.isZeroing() && job.isFullStripe(unwritable)) {
            return engine.zeroes().asSlice(0, (long) write.blocks() * engine.blockSize());
        }
        return buffers.segment(write);
    }

    private void afterWrites() {
        StorageException lastFailure = null;
        StorageException noSpace = null;
        boolean survived = true;
        long full = 0;
        List<MemberIo> failures = ios.failures();
        for (int i = 0; i < failures.size(); i++) {
            MemberIo io = failures.get(i);
            StorageException cause = cause(io);
            if (StripeEngine.isNoSpace(cause) && layout.code() != Code.NONE) {
                noSpace = cause;
                full |= 1L << io.tag();
                continue;
            }
            lastFailure = cause;
            boolean isOnlyItsRange = layout.code() == Code.COPIES
                    && StripeEngine.isMedium(lastFailure)
                    && engine.slots().isLastUnit(layout, job.stripe(), io.member().slot);
            survived &= !isOnlyItsRange && engine.fail(io.member(), lastFailure);
        }
        failure = survived ? noSpace : lastFailure;
        isSettled = failure == null;
        if (full != 0 && survived && job.isChange()) {
            phase = Phase.ROLL_BACK;
            rollback.start(job.stripe(), full, plan());
            return;
        }
        stable();
    }

    private void stable() {
        phase = Phase.STABLE;
        engine.membership.whenStable(this);
    }

    /** Goes on when the stripe is consistent, or is to wait for a resync. */
    @Override
    public void undone(boolean isConsistent) {
        isSettled = true;
        isUndone = true;
        job.setFua(false); // what was put back is not stable yet
        if (isConsistent) {
            stable();
            return;
        }
        engine.noteHalfWritten(job.stripe());
        phase = Phase.HALF_WRITTEN;
        engine.options.guard().halfWritten(this);
    }

    /**
     * Only now that failures are stable may the guard let go, and the write be acknowledged: after a crash a member
     * that has missed it would otherwise count as one that has it.
     */
    private void afterStable() {
        StorageException end = engine.membership.end(this);
        failure = end == null ? failure : end;
        if (job.isChange() && layout.code() != Code.NONE) {
            engine.options.guard().end(this, end == null && isSettled);
        }
        if (job.kind() == StripeWork.WRITE && failure == null
                && engine.losses.overlap(job.stripe(), job.from(), job.blocks())) {
            forgetLosses();
        } else {
            afterLosses();
        }
    }

    /** Forgets losses in the range that was written; the write waits until that is stable. */
    private void forgetLosses() {
        phase = Phase.FORGET_LOSSES;
        engine.losses.forget(job.stripe(), job.from(), job.blocks(), () -> Trampoline.run(this));
    }

    private void afterLosses() {
        if (job.kind() == StripeWork.WRITE && failure == null && job.nextPart()) {
            next(Phase.PLAN);
        } else {
            finish(failure);
        }
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

    /** Returns, after a VERIFY, the difference of a redundant unit from its expected content. */
    public MemorySegment difference(int unit) {
        return buffers.segment(unit, 0, layout.chunkBlocks(), false);
    }

    /** Whether no unit was left out. */
    public boolean readsEverything() { return unreadable == 0; }

    public boolean isRestore() { return job.kind() == StripeWork.RESTORE; }

    /** Whether a difference is all zeroes. */
    public boolean isZero(MemorySegment difference) {
        return buffers.isZero(difference);
    }

    // --- the change, for guards ---

    @Override
    public long stripe() { return job.stripe(); }

    @Override
    public boolean isFullStripe() { return job.isFullStripe(unwritable); }

    @Override
    public boolean fua() { return job.fua(); }

    @Override
    public boolean isUndone() { return isUndone; }

    @Override
    public int writes() { return plan().writes().size(); }

    @Override
    public int slot(int write) {
        return layout.slot(job.stripe(), plan().writes().get(write).unit());
    }

    @Override
    public long memberBlock(int write) {
        Plan.Transfer transfer = plan().writes().get(write);
        return layout.memberBlock(job.stripe(), transfer.unit()) + transfer.from();
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
    public String toString() { return job.toString(); }
}
