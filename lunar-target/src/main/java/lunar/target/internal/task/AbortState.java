package lunar.target.internal.task;

import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import org.jspecify.annotations.Nullable;

/**
 * Records whether a task is aborted, and whether it is answered nevertheless. Confined to the event loop's thread,
 * except {@link #isAborted} and {@link #whenAborted}, which the device server may use on its own thread.
 */
final class AbortState {
    private static final Sense ABORTED = Sense.of(SenseKey.ABORTED_COMMAND, AdditionalSense.NONE);
    private static final Sense NO_UNIT = Sense.of(SenseKey.ILLEGAL_REQUEST,
            AdditionalSense.LOGICAL_UNIT_NOT_SUPPORTED);

    private volatile boolean aborted;
    private boolean withdrawn;
    private boolean owed;
    private @Nullable Runnable whenAborted;

    /** Starts over for another command. */
    void clear() {
        aborted = false;
        withdrawn = false;
        owed = false;
        whenAborted = null;
    }

    boolean isAborted() { return aborted; }

    /** Registers an action to run when the task is aborted; runs it at once if it already is. */
    void whenAborted(Runnable what) {
        whenAborted = what;
        if (aborted) {
            what.run();
        }
    }

    void abort() {
        aborted = true;
        if (whenAborted != null) {
            whenAborted.run();
        }
    }

    /** Records that the unit is taken away, for which the task is aborted. */
    void withdraw() {
        withdrawn = true;
    }

    /** Sets whether the aborted task is answered nevertheless: the function that aborted it was rejected. */
    void owe(boolean isOwed) {
        owed = isOwed;
    }

    /**
     * Returns the outcome of a task that was aborted because its unit was taken away, because the initiator waits for a
     * response; null for other tasks.
     */
    @Nullable
    Sense withoutUnit() { return withdrawn ? NO_UNIT : null; }

    /**
     * Returns the outcome of a task that was aborted by a function that was rejected: always ABORTED COMMAND, because
     * the task may be incomplete; null for other tasks.
     */
    @Nullable
    Sense owed() { return owed ? ABORTED : null; }
}
