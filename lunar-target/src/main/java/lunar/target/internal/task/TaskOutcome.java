package lunar.target.internal.task;

import lunar.scsi.Sense;
import lunar.scsi.Status;
import org.jspecify.annotations.Nullable;

/** Outcome of a task, and the part of it that has been sent to the initiator. Confined to the event loop's thread. */
final class TaskOutcome {
    private Status status = Status.GOOD;
    private @Nullable Sense sense;
    private int dataInBytes;

    /**
     * Whether the whole response has been handed over. It may still wait at the response fence when the task has ended.
     */
    private boolean answered;
    private int acknowledgedPdus;
    private int acknowledgedBytes;

    /** Starts over for another command. */
    void clear() {
        set(Status.GOOD, null, 0);
        answered = false;
        acknowledgedPdus = 0;
        acknowledgedBytes = 0;
    }

    void set(Status with, @Nullable Sense why, int dataIn) {
        status = with;
        sense = why;
        dataInBytes = dataIn;
    }

    Status status() { return status; }

    /** Returns the sense data of a CHECK CONDITION; null with another status. */
    @Nullable
    Sense sense() { return sense; }

    /** Returns the bytes of data-in that the command has to send. */
    int dataInBytes() {
        return dataInBytes;
    }

    /** Whether the command has transferred its data: it was successful, or has data-in in spite of a condition. */
    boolean hasTransferred() {
        return status == Status.GOOD || dataInBytes > 0;
    }

    /** Records that the whole response has been handed over. */
    void answered() { answered = true; }

    boolean isAnswered() { return answered; }

    /** Records Data-In that the initiator received before the task was reassigned to another connection. */
    void acknowledged(int pdus, int bytes) {
        acknowledgedPdus = pdus;
        acknowledgedBytes = bytes;
    }

    /** Returns the number of Data-In PDUs that need no retransmission. */
    int acknowledgedPdus() {
        return acknowledgedPdus;
    }

    /** Returns the bytes of data-in that need no retransmission. */
    int acknowledgedBytes() {
        return acknowledgedBytes;
    }
}
