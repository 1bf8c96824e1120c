package lunar.raid.engine.scan;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.AbortedException;
import lunar.block.BlockRequest.Operation;
import lunar.block.StorageException;
import lunar.raid.ScanOptions;
import lunar.raid.SlotState;
import lunar.raid.WriteGuard;
import lunar.raid.engine.member.Member;
import lunar.raid.engine.member.MemberIo;
import lunar.raid.engine.member.Progress;
import lunar.raid.engine.member.Slots;
import lunar.raid.engine.member.Trampoline;
import lunar.raid.engine.stripe.StripeEngine;
import lunar.raid.engine.stripe.StripeLocks;
import lunar.raid.engine.stripe.StripeTask;
import org.jspecify.annotations.Nullable;

/** A scan that locks a batch of stripes, processes it and unlocks it, then goes on with the next batch. */
abstract class StripeScan extends VolumeScan
        implements StripeTask.Owner, MemberIo.Owner {
    /** Published position of the scan, for requests that rely on it; null if none do. */
    private final @Nullable Progress progress;
    private final StripeTask[] tasks;
    /** The engine of the tasks. */
    private StripeEngine worker;
    private final long[] stripes;
    private final AtomicInteger pending = new AtomicInteger();
    private int count;
    private int locked;
    private long unsaved;

    StripeScan(StripeEngine engine, ScanOptions options, @Nullable Progress progress) {
        super(engine, options, progress == null ? options.from() : progress.checkpoint());
        this.progress = progress;
        int batch = (int) Math.min(options.batch(), layout.stripes());
        stripes = new long[batch];
        tasks = new StripeTask[batch];
        worker = engine;
        makeTasks();
    }

    private void makeTasks() {
        for (int i = 0; i < tasks.length; i++) {
            tasks[i] = new StripeTask(worker);
        }
    }

    // --- defined by each scan ---

    /** Returns the first stripe to work on that is not before {@code from}, or {@link lunar.raid.StripeSet#NONE}. */
    abstract long next(long from);

    /** Returns the engine that has the layout and the locks of a stripe. */
    StripeEngine engineOf(long stripe) {
        return engine;
    }

    /** Called when a batch is locked; calls {@code ready} once, when the work on it may begin. */
    void beginBatch(long firstStripe, long stripeCount, WriteGuard.Ready ready) {
        ready.ready(null);
    }

    /** Works on a stripe that is locked, and calls {@link #worked} once. */
    abstract void work(StripeTask task);

    /** Called when a task's verify or restore has ended. */
    abstract void workEnded(StripeTask task, @Nullable StorageException cause);

    /** Called when the work on a stripe has ended and that on all others of its batch; it is still locked. */
    void done(StripeTask task) {}

    /** Called when a batch ends, that {@link #beginBatch} has let begin; it is still locked. */
    void endBatch(long firstStripe, long stripeCount) {}

    /** Returns why the scan cannot go on; null if it can. */
    abstract @Nullable StorageException obstacle();

    /** Returns the slots to flush before a checkpoint is stable. */
    abstract long slotsToFlush();

    /** Advances the position: stripes before it are done, and still locked if they were worked on. */
    private void done(long stripe) {
        if (progress != null) {
            progress.advance(stripe);
        }
        passed(stripe);
    }

    /** Saves the flushed position, if it is published, and goes on. */
    private void settled() {
        if (progress == null) {
            goOn();
        } else {
            progress.settle(checkpoint());
            engine.membership.change(slots -> slots, this::goOn);
        }
    }

    /** Called when all is done and flushed; calls {@link #end} when that has been saved. */
    abstract void completed();

    // --- batches ---

    public final void start() { Trampoline.run(this::nextBatch); }

    final void goOn() { Trampoline.run(this::nextBatch); }

    private void nextBatch() {
        StorageException obstacle = engine.isClosed() ? engine.gone(this) : obstacle();
        if (obstacle == null && isCancelled()) {
            obstacle = new AbortedException(this + " was cancelled at stripe " + checkpoint());
        }
        if (obstacle != null) {
            end(obstacle);
            return;
        }
        count = 0;
        for (long stripe = next(checkpoint()); fits(stripe); stripe = next(stripe + 1)) {
            stripes[count++] = stripe;
        }
        if (count == 0) {
            done(stripes());
            flush();
            return;
        }
        if (!worker.equals(engineOf(stripes[0]))) {
            worker = engineOf(stripes[0]);
            makeTasks();
        }
        locked = 0;
        lockNext();
    }

    private boolean fits(long stripe) {
        return stripe < stripes() && count < tasks.length
                && (count == 0 || (stripe - stripes[0] < StripeLocks.LOCKS
                        && engineOf(stripe).equals(engineOf(stripes[0]))));
    }

    /** Locks the stripes of the batch in the order of the locks, which avoids deadlocks. */
    private void lockNext() {
        if (locked == count) {
            beginBatch(stripes[0], stripes[count - 1] - stripes[0] + 1,
                    refusal -> Trampoline.run(() -> workOnAll(refusal)));
            return;
        }
        int first = 0;
        while (first < count - 1
                && StripeLocks.order(stripes[first]) < StripeLocks.order(stripes[first + 1])) {
            first++;
        }
        int at = (first + 1 + locked) % count;
        tasks[at].startLock(this, stripes[at]);
    }

    private void workOnAll(@Nullable StorageException refusal) {
        if (refusal != null) {
            unlockAll();
            end(refusal);
            return;
        }
        pending.set(count + 1);
        for (int i = 0; i < count; i++) {
            work(tasks[i]);
        }
        worked();
    }

    @Override
    public final void stripeDone(StripeTask task, @Nullable StorageException cause) {
        if (locked < count) {
            locked++;
            lockNext();
        } else {
            workEnded(task, cause);
        }
    }

    /** Ends work on a stripe; the last one ends the batch. */
    final void worked() {
        if (pending.decrementAndGet() > 0) {
            return;
        }
        boolean isGood = failure() == null && obstacle() == null;
        if (isGood) {
            for (int i = 0; i < count; i++) {
                done(tasks[i]);
            }
            long after = stripes[count - 1] + 1;
            unsaved += after - checkpoint();
            done(after);
        }
        endBatch(stripes[0], stripes[count - 1] - stripes[0] + 1);
        unlockAll();
        if (!isGood) {
            end(failure() == null ? obstacle() : failure());
        } else if (unsaved >= options.saveStripes()) {
            unsaved = 0;
            flush();
        } else {
            pace();
        }
    }

    private void unlockAll() {
        for (int i = 0; i < count; i++) {
            tasks[i].unlock();
        }
    }

    private void pace() {
        options.pace().next((long) count * layout.units() * layout.shape().chunkBytes(),
                this::goOn);
    }

    // --- flushes ---

    private void flush() {
        long slots = slotsToFlush();
        Slots now = engine.slots();
        pending.set(1);
        for (int slot = 0; slot < now.count(); slot++) {
            Member member = now.member(slot);
            if ((slots >>> slot & 1) != 0 && member != null
                    && now.state(slot) != SlotState.FAILED) {
                pending.incrementAndGet();
                MemberIo io = engine.takeIo();
                io.start(this, slot, member, Operation.FLUSH, 0, 0,
                        MemorySegment.NULL, false);
            }
        }
        flushed();
    }

    @Override
    public final void ended(MemberIo io) {
        StorageException cause = io.failure();
        if (cause != null) {
            boolean _ = engine.fail(io.member(), cause);
        }
        engine.giveBack(io);
        flushed();
    }

    private void flushed() {
        if (pending.decrementAndGet() > 0) {
            return;
        }
        StorageException obstacle = engine.isClosed() ? engine.gone(this) : obstacle();
        if (obstacle != null) {
            end(obstacle);
        } else if (checkpoint() < stripes()) {
            settled();
        } else {
            if (progress != null) {
                progress.settle(checkpoint());
            }
            completed();
        }
    }
}
