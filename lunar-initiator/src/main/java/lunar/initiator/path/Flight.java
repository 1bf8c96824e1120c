package lunar.initiator.path;

import java.util.Objects;
import lunar.block.BlockRequest;
import lunar.block.DeadlineException;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.initiator.LunDevice;
import org.jspecify.annotations.Nullable;

/**
 * A submitted request on its way over one path after the other, until one brings it to its end. Reused, so that the
 * steady state allocates nothing.
 */
final class Flight implements BlockRequest.Completion {
    private final MultipathDevice owner;
    private final BlockRequest sent = new BlockRequest().onCompletion(this);
    private @Nullable BlockRequest asked;
    private @Nullable PathAgent path;
    private @Nullable LunDevice device;
    private long begunNanos;
    private int deadlines;
    /** When it has waited for a path too long; 0 as long as it has not. By {@link System#nanoTime}. */
    long giveUpNanos;

    /** The one below it in the pool. */
    @Nullable
    Flight next;

    Flight(MultipathDevice owner) { this.owner = owner; }

    /** Takes a request on. */
    Flight with(BlockRequest request) {
        asked = request;
        path = null;
        device = null;
        deadlines = 0;
        giveUpNanos = 0;
        return this;
    }

    /** Lets the request go, whose end is to be told. */
    BlockRequest land() {
        BlockRequest request = asked();
        asked = null;
        device = null;
        return request;
    }

    private BlockRequest asked() { return Objects.requireNonNull(asked); }

    /** Sends it by the path that the policy chooses, or has it wait for one. */
    void start() {
        BlockRequest request = asked();
        PathAgent chosen = owner.choose(request);
        LunDevice by = chosen == null ? null : chosen.device();
        if (chosen == null) {
            owner.park(this);
        } else if (by == null) {
            owner.withdraw(chosen);
            start();
        } else {
            path = chosen;
            device = by;
            giveUpNanos = 0;
            begunNanos = System.nanoTime();
            chosen.begun();
            by.submit(sent.asCopyOf(request));
        }
    }

    @Override
    public void completed(BlockRequest done, @Nullable StorageException failure) {
        PathAgent by = Objects.requireNonNull(path);
        by.ended(System.nanoTime() - begunNanos, failure == null);
        if (failure == null) {
            owner.end(this, null);
            return;
        }
        boolean lost = isOfPath(failure);
        if (lost) {
            by.suspect(Objects.requireNonNull(device));
        }
        boolean late = failure instanceof DeadlineException && deadlines++ == 0
                && owner.hasOther(by);
        if ((lost || late) && mayBeSentAgain(asked())) {
            start();
        } else {
            owner.end(this, lost ? unknown(asked(), failure) : failure);
        }
    }

    /** Whether a path may be to blame, or the unit seen by it. */
    static boolean isOfPath(StorageException failure) {
        return failure instanceof DeviceGoneException;
    }

    /**
     * Whether to do it twice is to do it once. The target has ended what the lost session left before the same session
     * is there again; by another path that is not known, so that of two writes to the same blocks the first must have
     * ended before the second is sent, as for any disk.
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
