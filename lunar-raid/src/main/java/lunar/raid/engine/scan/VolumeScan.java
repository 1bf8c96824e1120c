package lunar.raid.engine.scan;

import lunar.block.StorageException;
import lunar.raid.BackgroundScan;
import lunar.raid.ScanOptions;
import lunar.raid.engine.stripe.StripeEngine;
import lunar.raid.layout.Layout;
import org.jspecify.annotations.Nullable;

/** The state that all scans of a volume have: position, cancellation, outcome. */
public abstract class VolumeScan implements BackgroundScan {
    public final StripeEngine engine;
    protected final Layout layout;
    public final ScanOptions options;
    private volatile long checkpoint;
    private volatile boolean isCancelled;
    private volatile boolean hasEnded;
    private volatile @Nullable StorageException failure;

    public VolumeScan(StripeEngine engine, ScanOptions options, long checkpoint) {
        this.engine = engine;
        this.layout = engine.layout;
        this.options = options;
        this.checkpoint = checkpoint;
        engine.scanBegins();
    }

    // --- progress ---

    @Override
    public final long checkpoint() { return checkpoint; }

    @Override
    public long stripes() { return layout.stripes(); }

    @Override
    public final boolean hasEnded() { return hasEnded; }

    @Override
    public final @Nullable StorageException failure() { return failure; }

    @Override
    public final void cancel() { isCancelled = true; }

    // --- for subclasses ---

    protected final boolean isCancelled() { return isCancelled; }

    protected final void passed(long stripe) { checkpoint = stripe; }

    /** Records a failure: the scan ends after the current step. */
    protected final void note(StorageException cause) {
        failure = cause;
    }

    protected final void end(@Nullable StorageException cause) {
        failure = cause;
        hasEnded = true;
        engine.scanEnds();
        options.onEnd().accept(this);
    }

    /** Returns why the volume takes no writes any more; null while it does. */
    protected final @Nullable StorageException volumeEnd() {
        return engine.membership.end(this);
    }
}
