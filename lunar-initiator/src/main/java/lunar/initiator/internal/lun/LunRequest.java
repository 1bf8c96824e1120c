package lunar.initiator.internal.lun;

import lunar.block.BlockRequest;
import lunar.initiator.internal.retry.RetryPolicy;
import lunar.initiator.internal.session.Command;
import org.jspecify.annotations.Nullable;

/** State of a block request that a command of a LUN executes. Kept with the command and reused. */
final class LunRequest {
    /** The request; null while the command serves none. */
    @Nullable
    BlockRequest request;
    final RetryPolicy retries = new RetryPolicy();
    /** The request needs stable storage, which the command itself does not promise: a flush follows, or is running. */
    boolean needsFlush;
    boolean flushing;
    /** The command was sent again after a report of lost writes. */
    boolean isRepeated;
    /** For the {@link WriteLedger}: the number of a flush, and losses at its submission or at that of a write. */
    long flushNumber;
    long lossesBefore;
    /** The write cache counted as on when the command was sent: what it has written may not be destaged later. */
    boolean wasVolatile;
    /** The loss that a flush has failed with; 0 for none. */
    long lossToReport;

    private LunRequest() {}

    /** Returns the state that a command has for requests, new at the command's first use for one. */
    static LunRequest of(Command command) {
        if (command.attachment() instanceof LunRequest known) {
            return known;
        }
        var made = new LunRequest();
        command.attach(made);
        return made;
    }

    /** Begins with a request. */
    void begin(BlockRequest asked) {
        request = asked;
        retries.begin();
        needsFlush = false;
        flushing = false;
        isRepeated = false;
        wasVolatile = false;
        lossToReport = 0;
    }

    /** Releases the request. */
    void clear() { request = null; }
}
