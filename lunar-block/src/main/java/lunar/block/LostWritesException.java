package lunar.block;

import org.jspecify.annotations.Nullable;

/**
 * Writes that the device acknowledged since its last successful flush may be lost: a flush or a write with FUA cannot
 * vouch for them. The target lost its volatile cache (power loss, reset), or the operating system could not write
 * dirty pages back. Sending the request again does not bring the data back; the application that still holds them must
 * write them again.
 *
 * <p>A device throws it in one of two ways, which its caller cannot tell apart at the first failure:
 * <ul>
 * <li><b>Once.</b> The cause is over (a target that was reset). The device fails one flush or write with FUA and
 * vouches again for what is written from then on. Only this caller is told: it reports the loss to all of its own
 * callers, or writes again what it wrote since its last successful flush.
 * <li><b>For good.</b> The device does not know what is lost and whether it can be trusted (a file or disk whose
 * writeback failed). Every flush and every write with FUA fails until an operator acts; reads and plain writes go on.
 * A caller that has written everything again and still gets this error at its next flush must give the device up
 * rather than try for ever.
 * </ul>
 */
public final class LostWritesException extends StorageException {
    public LostWritesException(String message) { this(message, null); }

    public LostWritesException(String message, @Nullable Throwable cause) { super(message, cause); }

    @Override
    public boolean retryable() { return false; }
}
