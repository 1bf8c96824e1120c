package lunar.scsi.target.block;

import java.util.concurrent.CompletableFuture;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.SenseSpecific;

/** Something that keeps a medium busy for long and tells how far it is (SPC-5 section 4.5.3, progress). Thread-safe. */
final class LongOperation {
    private static final int PARTS = 1 << 16;

    private final AdditionalSense inProgress;
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private volatile int progress;

    /** @param inProgress what commands are told that come meanwhile */
    LongOperation(AdditionalSense inProgress) {
        this.inProgress = inProgress;
    }

    void progress(long done, long total) {
        progress = (int) Math.min(PARTS - 1, (double) done / total * PARTS);
    }

    /** Why a command that needs the medium fails now. */
    Sense sense() {
        return Sense.of(SenseKey.NOT_READY, inProgress)
                .withSpecific(new SenseSpecific.Progress(progress));
    }

    /** Completes when the operation has ended, whether well or not. */
    CompletableFuture<Void> end() {
        return end;
    }
}
