package lunar.scsi.target.block;

import java.util.concurrent.CompletableFuture;
import lunar.block.AbortedException;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.SenseSpecific;

/**
 * A long operation that keeps the medium busy and reports its progress (SPC-5 section 4.5.3, progress). Thread-safe.
 */
final class LongOperation {
    private static final int PARTS = 1 << 16;

    private final AdditionalSense inProgress;
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private volatile int progress;
    private volatile boolean stopped;

    /** @param inProgress additional sense for commands that arrive meanwhile */
    LongOperation(AdditionalSense inProgress) {
        this.inProgress = inProgress;
    }

    void progress(long done, long total) {
        progress = (int) Math.min(PARTS - 1, (double) done / total * PARTS);
    }

    /** Ends the operation as soon as it looks: another server goes on with it. */
    void stop() {
        stopped = true;
    }

    boolean isStopped() { return stopped; }

    /** @throws AbortedException when the operation has been stopped */
    void requireGoingOn() throws AbortedException {
        if (stopped) {
            throw new AbortedException("another server goes on with it");
        }
    }

    /** Why a command that needs the medium fails now. */
    Sense sense() {
        return Sense.of(SenseKey.NOT_READY, inProgress)
                .withSpecific(new SenseSpecific.Progress(progress));
    }

    /** Completes when the operation has ended, successfully or not. */
    CompletableFuture<Void> end() {
        return end;
    }
}
