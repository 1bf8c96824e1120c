package lunar.raid;

import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.raid.layout.Layout;
import org.jspecify.annotations.Nullable;

/**
 * A walk over a volume, a piece at a time, beside reads and writes. It goes on on the threads of members, and where
 * {@link Pace} says.
 */
public abstract sealed class Walk permits StripeWalk, Reshape {
    final Engine engine;
    final Layout layout;
    final WalkOptions options;
    private volatile long checkpoint;
    private volatile boolean isCancelled;
    private volatile boolean hasEnded;
    private volatile @Nullable StorageException failure;

    Walk(Engine engine, WalkOptions options, long checkpoint) {
        this.engine = engine;
        this.layout = engine.layout;
        this.options = options;
        this.checkpoint = checkpoint;
        engine.walkBegins();
    }

    // --- for whoever watches ---

    /** Stripes before it are done. */
    public final long checkpoint() { return checkpoint; }

    /** All stripes of the volume. */
    public long stripes() { return layout.stripes(); }

    /** Whether it goes on no more. */
    public final boolean hasEnded() { return hasEnded; }

    /** Why it has ended before it was through; null where it was, or has not ended. */
    public final @Nullable StorageException failure() {
        return failure;
    }

    /** Ends it after what it is at. It can be begun again at its checkpoint. */
    public final void cancel() {
        isCancelled = true;
    }

    // --- for those that walk ---

    final boolean isCancelled() { return isCancelled; }

    final void passed(long stripe) { checkpoint = stripe; }

    /** Something has gone wrong: the walk ends after what it is at. */
    final void note(StorageException cause) {
        failure = cause;
    }

    final void end(@Nullable StorageException cause) {
        failure = cause;
        hasEnded = true;
        engine.walkEnds();
        options.onEnd().accept(this);
    }

    /** The volume takes no writes any more. */
    final @Nullable StorageException volumeEnd() {
        StorageException end = engine.membership.end();
        return end == null
                ? null
                : new DeviceGoneException(this + ": " + end.getMessage(), end);
    }
}
