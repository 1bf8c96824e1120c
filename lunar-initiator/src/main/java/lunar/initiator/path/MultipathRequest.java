package lunar.initiator.path;

import java.util.Objects;
import lunar.block.BlockRequest;
import lunar.block.DeadlineException;
import lunar.block.DeviceGoneException;
import lunar.block.LostWritesException;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * A submitted request, which is sent over one path after the other until one completes it. Reused, so that the steady
 * state allocates nothing.
 */
final class MultipathRequest implements BlockRequest.Completion {
    private final MultipathDevice owner;
    private final BlockRequest sent = new BlockRequest().onCompletion(this);
    private @Nullable BlockRequest asked;
    private @Nullable PathAgent path;
    private @Nullable PathSession session;
    private long begunNanos;
    private int deadlines;
    /** Of a FLUSH: the latest loss that had been reported when it came. */
    private long reportedBefore;
    private final Refusal refusal;
    /** When it has waited for a path too long; 0 as long as it has not. By {@link System#nanoTime}. */
    long giveUpNanos;
    /** When it has been held back too long by an earlier write; 0 as long as it is not held back. Likewise. */
    long heldUntilNanos;

    /** The next request in the pool. */
    @Nullable
    MultipathRequest next;

    MultipathRequest(MultipathDevice owner) {
        this.owner = owner;
        refusal = new Refusal(owner.options());
    }

    /** Begins with a request. */
    MultipathRequest with(BlockRequest request) {
        asked = request;
        path = null;
        session = null;
        deadlines = 0;
        refusal.reset();
        reportedBefore = owner.writes().reported();
        giveUpNanos = 0;
        heldUntilNanos = 0;
        return this;
    }

    /** Releases and returns the request, which the caller completes. */
    BlockRequest land() {
        BlockRequest request = asked();
        asked = null;
        session = null;
        return request;
    }

    /** Returns the request. */
    BlockRequest asked() { return Objects.requireNonNull(asked); }

    /** Sends the request by the path that the policy chooses, or parks it until there is one. */
    void start() {
        BlockRequest request = asked();
        PathAgent chosen = owner.choose(request);
        PathSession by = chosen == null ? null : chosen.session();
        if (chosen == null) {
            owner.park(this);
        } else if (owner.heldWrites().isHeldBack(request)) {
            owner.heldWrites().hold(this);
        } else if (by == null) {
            owner.withdraw(chosen);
            start();
        } else {
            path = chosen;
            session = by;
            giveUpNanos = 0;
            begunNanos = System.nanoTime();
            chosen.begun();
            by.device().submit(sent.asCopyOf(request));
        }
    }

    @Override
    public void completed(BlockRequest done, @Nullable StorageException failure) {
        PathAgent by = Objects.requireNonNull(path);
        by.ended(System.nanoTime() - begunNanos, failure == null);
        if (failure == null) {
            StorageException loss = null;
            try {
                owner.writes().requireNoLoss(asked(), reportedBefore);
            } catch (LostWritesException e) {
                loss = e;
            }
            owner.end(this, loss);
            return;
        }
        boolean lost = isOfPath(failure);
        boolean refused = false;
        if (lost) {
            PathSession sentBy = Objects.requireNonNull(session);
            owner.heldWrites().unanswered(sentBy, asked(), failure);
            by.suspect(sentBy);
            refused = refusal.isFinal(sentBy);
        }
        boolean late = failure instanceof DeadlineException && deadlines++ == 0
                && owner.hasOther(by);
        if ((late || (lost && !refused)) && mayBeSentAgain(asked())) {
            start();
        } else {
            owner.end(this, lost ? unknown(asked(), failure) : failure);
        }
    }

    /** Whether the path may be at fault, or the unit as seen by it. */
    static boolean isOfPath(StorageException failure) {
        return failure instanceof DeviceGoneException;
    }

    /**
     * Whether the request is idempotent. A READ or FLUSH is sent again at once: its first copy changes nothing,
     * whenever the target performs it. A write is idempotent only as long as no later write to its blocks is
     * acknowledged. {@link WriteBarrier} therefore holds it back, with every other write to its blocks, until the
     * session by which it was sent first is known to have ended at the target. A write that the target has aborted
     * at its deadline is known to have ended.
     */
    static boolean mayBeSentAgain(BlockRequest request) {
        return switch (request.operation()) {
            case READ, WRITE, FLUSH, UNMAP, WRITE_ZEROES -> true;
            case COMPARE_AND_WRITE -> false;
        };
    }

    static StorageException unknown(BlockRequest request, StorageException failure) {
        return mayBeSentAgain(request)
                ? failure
                : new DeviceGoneException(
                        request + ": the path was lost, and whether it was done is "
                                + "not known: " + failure.getMessage(),
                        failure);
    }
}
