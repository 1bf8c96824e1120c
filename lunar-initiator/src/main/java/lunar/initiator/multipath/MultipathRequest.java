package lunar.initiator.multipath;

import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import lunar.block.BlockRequest;
import lunar.block.DeadlineException;
import lunar.block.DeviceGoneException;
import lunar.block.LostWritesException;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * A request in progress, which is sent over one path after another until one completes it. Either submitted, or
 * executed by a waiting caller, which sends it itself each time, so that it may use buffers confined to its thread.
 * Reused, so that the steady state allocates nothing.
 */
final class MultipathRequest extends WaitingRequest implements BlockRequest.Completion {
    private final MultipathRequests owner;
    private final UsablePaths paths;
    private final HeldWrites held;
    private final BlockRequest sent = new BlockRequest().onCompletion(this);
    private @Nullable BlockRequest asked;
    /** The thread that performs it; null if it was submitted. */
    private @Nullable Thread caller;
    /** Whether the caller is to send it again; and its outcome. */
    private volatile boolean resumed;
    private volatile boolean done;
    private @Nullable StorageException outcome;
    private @Nullable PathAgent path;
    private @Nullable PathSession session;
    private long begunNanos;
    private int deadlines;
    /** Of a FLUSH: the latest loss that had been reported when it came. */
    private long reportedBefore;
    private final GoneUnitTimeout refusal;

    /** The next request in the pool. */
    @Nullable
    MultipathRequest next;

    MultipathRequest(MultipathRequests owner) {
        this.owner = owner;
        paths = owner.paths();
        held = owner.held();
        refusal = new GoneUnitTimeout(owner.options());
    }

    /**
     * Begins with a request.
     *
     * @param by the thread that will call {@link #perform}; null for a submitted request
     */
    MultipathRequest with(BlockRequest request, @Nullable Thread by) {
        asked = request;
        caller = by;
        resumed = false;
        done = false;
        outcome = null;
        path = null;
        session = null;
        deadlines = 0;
        refusal.reset();
        reportedBefore = owner.writes().reported();
        giveUpNanos = 0;
        heldSinceNanos = 0;
        heldUntilNanos = 0;
        return this;
    }

    /** Releases what belongs to others. */
    void clear() {
        asked = null;
        caller = null;
        session = null;
        outcome = null;
        var _ = sent.asFlush();
    }

    @Override
    BlockRequest asked() { return Objects.requireNonNull(asked); }

    /** Performs the request on the calling thread; returns its failure, null for success. */
    @Nullable
    StorageException perform() {
        boolean interrupted = false;
        resumed = true;
        try {
            while (!done) {
                if (resumed) {
                    resumed = false;
                    start();
                } else {
                    LockSupport.park(this);
                    interrupted |= Thread.interrupted(); // as for any request: its end is bounded in another way
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        return outcome;
    }

    /** Sends the request again, or has its caller do so. */
    @Override
    void resume() {
        Thread by = caller;
        if (by == null) {
            start();
        } else {
            resumed = true;
            LockSupport.unpark(by);
        }
    }

    @Override
    void fail(StorageException failure) { end(failure); }

    private void end(@Nullable StorageException failure) {
        Thread by = caller;
        if (by == null) {
            owner.end(this, failure);
        } else {
            outcome = failure;
            done = true;
            LockSupport.unpark(by);
        }
    }

    /** Sends the request by the path that the policy chooses, or parks it until there is one. */
    private void start() {
        BlockRequest request = asked();
        PathAgent chosen = paths.choose(request);
        PathSession by = chosen == null ? null : chosen.session();
        if (chosen == null) {
            paths.park(this);
        } else if (held.isHeldBack(request)) {
            held.hold(this);
        } else if (by == null) {
            owner.withdraw(chosen);
            resume();
        } else {
            path = chosen;
            session = by;
            giveUpNanos = 0;
            begunNanos = System.nanoTime();
            chosen.begun();
            if (caller == null) {
                by.device().submit(sent.asCopyOf(request));
            } else {
                execute(chosen, by, request);
            }
        }
    }

    private void execute(PathAgent chosen, PathSession by, BlockRequest request) {
        StorageException failure = null;
        try {
            by.device().execute(sent.asCopyOf(request));
        } catch (StorageException e) {
            failure = e;
        } catch (RuntimeException | Error e) {
            chosen.ended(System.nanoTime() - begunNanos, false);
            throw e;
        }
        completed(sent, failure);
    }

    @Override
    public void completed(BlockRequest copy, @Nullable StorageException failure) {
        PathAgent by = Objects.requireNonNull(path);
        by.ended(System.nanoTime() - begunNanos, failure == null);
        if (failure == null) {
            StorageException loss = null;
            try {
                owner.writes().requireNoLoss(asked(), reportedBefore);
            } catch (LostWritesException e) {
                loss = e;
            }
            end(loss);
            return;
        }
        boolean lost = failure instanceof DeviceGoneException; // the path may be at fault, or the unit as seen by it
        boolean refused = false;
        if (lost) {
            PathSession sentBy = Objects.requireNonNull(session);
            held.unanswered(sentBy, asked(), failure);
            by.suspect(sentBy);
            refused = refusal.isFinal(sentBy);
        }
        boolean late = failure instanceof DeadlineException && deadlines++ == 0
                && paths.hasOther(by);
        if ((late || (lost && !refused)) && mayBeSentAgain(asked())) {
            resume();
        } else {
            end(lost ? unknown(asked(), failure) : failure);
        }
    }

    /**
     * Whether the request is idempotent. A READ or FLUSH is retried at once: its first copy changes nothing, whenever
     * the target executes it. A write is idempotent only as long as no later write to its blocks is acknowledged.
     * Therefore {@link WriteBarrier} holds it, with every other write to its blocks, until the session that sent it
     * first is known to have ended at the target. A write that the target has aborted at its deadline is known to have
     * ended.
     */
    private static boolean mayBeSentAgain(BlockRequest request) {
        return switch (request.operation()) {
            case READ, WRITE, FLUSH, UNMAP, WRITE_ZEROES -> true;
            case COMPARE_AND_WRITE -> false;
        };
    }

    private static StorageException unknown(BlockRequest request, StorageException failure) {
        return mayBeSentAgain(request)
                ? failure
                : new DeviceGoneException(
                        request + ": the path was lost; its outcome is "
                                + "unknown: " + failure.getMessage(),
                        failure);
    }
}
