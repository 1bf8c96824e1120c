package lunar.block;

import org.jspecify.annotations.Nullable;

/**
 * Writes that the device acknowledged since its last successful flush may be lost, so a flush or a write with FUA
 * cannot make them stable. The target lost its volatile cache (power loss, reset), or the operating system could not
 * write dirty pages back. Sending the request again does not restore the data; the application must write them again.
 *
 * <p>A device fails in one of two ways, which its caller cannot distinguish at the first failure:
 * <ul>
 * <li><b>Once.</b> The cause is over, as after a reset of the target. The device fails one flush or write with FUA and
 * keeps later writes as usual. Only this caller gets the failure: it reports the loss to all of its own callers, or
 * writes again everything that it wrote since its last successful flush.
 * <li><b>Permanently.</b> The device knows neither what is lost nor whether later writes are kept, as a file or disk
 * whose writeback failed. Every flush and every write with FUA fails until an operator acts; reads and plain writes
 * succeed. A caller that has written everything again and gets this failure at its next flush too must give the device
 * up rather than retry.
 * </ul>
 */
public final class LostWritesException extends StorageException {
    public LostWritesException(String message) { this(message, null); }

    public LostWritesException(String message, @Nullable Throwable cause) { super(message, cause); }

    @Override
    public boolean retryable() { return false; }
}
