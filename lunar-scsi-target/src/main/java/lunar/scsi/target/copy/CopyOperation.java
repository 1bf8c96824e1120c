package lunar.scsi.target.copy;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import lunar.scsi.copy.CopyOperationInformation.State;
import org.jspecify.annotations.Nullable;

/** A copy operation (SPC-5 section 5.18.4.3): its progress and result. Thread-safe. */
public final class CopyOperation {
    private final int serviceAction;
    private final boolean background;
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private volatile boolean cancelled;
    private long bytes;
    private int segments;
    private Status status = Status.GOOD;
    private @Nullable Sense sense;
    private @Nullable Bytes token;

    /**
     * @param serviceAction of THIRD-PARTY COPY OUT
     * @param background whether its command ends before the operation does
     */
    CopyOperation(int serviceAction, boolean background) {
        this.serviceAction = serviceAction;
        this.background = background;
    }

    int serviceAction() { return serviceAction; }

    /** Cancels the operation, for COPY OPERATION ABORT or because its task was aborted; it ends soon afterwards. */
    void cancel() {
        cancelled = true;
    }

    /** Called between two pieces of work. */
    void requireGoingOn() throws CopyException {
        if (cancelled) {
            throw new CopyException(Sense.of(SenseKey.COPY_ABORTED, AdditionalSense.NONE));
        }
    }

    /** Counts bytes that have been written to the destination. */
    synchronized void copied(long more) {
        bytes += more;
    }

    /** Counts a segment as done. */
    synchronized void segmentDone() { segments++; }

    synchronized long bytes() { return bytes; }

    synchronized int segments() { return segments; }

    /** Sets the token that it made. */
    synchronized void token(Bytes made) { token = made; }

    synchronized Optional<Bytes> token() { return Optional.ofNullable(token); }

    /** Ends the operation; CHECK CONDITION has sense data. */
    void end(Status with, @Nullable Sense why) {
        synchronized (this) {
            status = with;
            sense = why;
        }
        end.complete(null);
    }

    boolean hasEnded() { return end.isDone(); }

    /** Completes when the operation ends. */
    CompletableFuture<Void> ended() { return end; }

    synchronized Status status() { return status; }

    /** Sense data in fixed format; empty while it runs or if it succeeded. */
    synchronized Bytes sense() {
        return sense == null ? Bytes.EMPTY : Bytes.of(sense.encodeFixed());
    }

    synchronized State state() {
        if (!hasEnded()) {
            return background ? State.IN_BACKGROUND : State.IN_FOREGROUND;
        }
        return status == Status.GOOD
                ? State.SUCCEEDED
                : cancelled ? State.TERMINATED : State.FAILED;
    }
}
