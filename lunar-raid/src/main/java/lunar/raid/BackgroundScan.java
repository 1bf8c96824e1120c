package lunar.raid;

import lunar.block.StorageException;
import lunar.raid.layout.Layout;
import org.jspecify.annotations.Nullable;

/**
 * A scan of a volume, piece by piece, concurrent with reads and writes: rebuild, resync, scrub or reshape. It runs on
 * the threads that complete the members' requests, and on those of its {@link Pace}.
 */
public abstract sealed class BackgroundScan permits StripeScan, Reshape {
    final Engine engine;
    final Layout layout;
    final ScanOptions options;
    private volatile long checkpoint;
    private volatile boolean isCancelled;
    private volatile boolean hasEnded;
    private volatile @Nullable StorageException failure;

    BackgroundScan(Engine engine, ScanOptions options, long checkpoint) {
        this.engine = engine;
        this.layout = engine.layout;
        this.options = options;
        this.checkpoint = checkpoint;
        engine.scanBegins();
    }

    // --- progress ---

    /** Returns the stripe up to which the scan is done. */
    public final long checkpoint() {
        return checkpoint;
    }

    /** All stripes of the volume. */
    public long stripes() { return layout.stripes(); }

    /** Whether the scan has ended. */
    public final boolean hasEnded() { return hasEnded; }

    /** Returns why the scan ended before it was complete; null if it completed, or has not ended. */
    public final @Nullable StorageException failure() {
        return failure;
    }

    /** Ends the scan after the current step. It can be resumed from its checkpoint. */
    public final void cancel() {
        isCancelled = true;
    }

    // --- for subclasses ---

    final boolean isCancelled() { return isCancelled; }

    final void passed(long stripe) { checkpoint = stripe; }

    /** Records a failure: the scan ends after the current step. */
    final void note(StorageException cause) {
        failure = cause;
    }

    final void end(@Nullable StorageException cause) {
        failure = cause;
        hasEnded = true;
        engine.scanEnds();
        options.onEnd().accept(this);
    }

    /** Returns why the volume takes no writes any more; null while it does. */
    final @Nullable StorageException volumeEnd() {
        return engine.membership.end(this);
    }
}
