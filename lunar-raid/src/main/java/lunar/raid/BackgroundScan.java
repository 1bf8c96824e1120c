package lunar.raid;

import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.raid.layout.Layout;
import org.jspecify.annotations.Nullable;

/**
 * A scan of a volume, piece by piece, beside reads and writes: rebuild, resync, scrub or reshape. It runs on the threads
 * that complete the members' requests, and on those of its {@link Pace}.
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

    // --- for those that scan ---

    final boolean isCancelled() { return isCancelled; }

    final void passed(long stripe) { checkpoint = stripe; }

    /** Something has gone wrong: the scan ends after what it is at. */
    final void note(StorageException cause) {
        failure = cause;
    }

    final void end(@Nullable StorageException cause) {
        failure = cause;
        hasEnded = true;
        engine.scanEnds();
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
