package lunar.scsi.target.copy;

import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.ScsiTask;
import lunar.scsi.target.Worker;
import org.jspecify.annotations.Nullable;

/** Runs a copy operation on a thread of its own, in the foreground or background. */
final class CopyWork {
    private static final System.Logger LOG = System.getLogger("lunar.target");
    private static final Sense INTERNAL_FAILURE = Sense.of(SenseKey.HARDWARE_ERROR,
            AdditionalSense.INTERNAL_TARGET_FAILURE);

    /** The work of a copy; blocks until done. */
    @FunctionalInterface
    interface Body {
        void run() throws CopyException, InterruptedException;
    }

    private CopyWork() {}

    /**
     * Starts the copy. Ends the task at once for a background copy, otherwise with the copy. Runs on the task's loop.
     */
    static void start(ScsiTask task, LogicalUnit unit, CopyOperation operation, boolean background,
            Body body) {
        if (background) {
            var worker = new Worker();
            CopyOperations.of(task.nexus(), unit).goesOn(operation, worker);
            Thread.ofVirtual().name("lunar-copy")
                    .start(() -> worker.run(() -> run(operation, body)));
            task.good();
            return;
        }
        task.whenAborted(operation::cancel);
        task.work(() -> {
            CopyException failure = run(operation, body);
            return failure == null ? ScsiTask::good : ended -> end(ended, failure);
        });
    }

    private static @Nullable CopyException run(CopyOperation operation,
            Body body) {
        CopyException failure;
        try {
            body.run();
            operation.end(Status.GOOD, null);
            return null;
        } catch (CopyException e) {
            failure = e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            failure = new CopyException(Sense.of(SenseKey.COPY_ABORTED, AdditionalSense.NONE));
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
            LOG.log(System.Logger.Level.ERROR, "copy operation failed", e);
            failure = new CopyException(INTERNAL_FAILURE);
        }
        operation.end(failure.status(), failure.sense());
        return failure;
    }

    /** Ends a failed task. */
    static void end(ScsiTask task, CopyException failure) {
        if (failure.status() == Status.CHECK_CONDITION) {
            task.checkCondition(failure.sense());
        } else {
            task.end(failure.status());
        }
    }
}
