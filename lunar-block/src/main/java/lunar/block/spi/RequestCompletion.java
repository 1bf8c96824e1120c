package lunar.block.spi;

import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * Completes the requests that were submitted to a device. For implementations of {@link BlockDevice#submit}; a caller
 * that submits requests has no use for this class.
 *
 * <p><b>Exactly once.</b> A device completes each submitted request by exactly one call of one of these methods, also
 * when it refuses the request or is closed. It holds no lock that a completion may need, and touches neither the
 * request nor its buffer afterwards: its owner may prepare and submit the request again while the call still runs. A
 * request that was passed to {@link BlockDevice#execute} is not completed; that call returns or throws.
 *
 * <p><b>Threads.</b> The completion runs on the calling thread, which may be any one, before these methods return.
 * A completion must not throw. One that does passes its exception to the caller of the plain methods;
 * {@link #completeGuarded} is for threads on which other requests depend.
 *
 * <p>Nothing is allocated.
 */
public final class RequestCompletion {
    private static final System.Logger LOG = System.getLogger("lunar.block");

    private RequestCompletion() {}

    /** Completes a request with success. */
    public static void succeed(BlockRequest request) {
        complete(request, null);
    }

    /** Completes a request with a failure. */
    public static void fail(BlockRequest request, StorageException failure) {
        complete(request, failure);
    }

    /**
     * Completes a request.
     *
     * @param failure null if it succeeded
     */
    public static void complete(BlockRequest request, @Nullable StorageException failure) {
        request.completion().completed(request, failure);
    }

    /**
     * Completes a request on a thread that other requests depend on, such as a worker or an event loop: an exception
     * that the completion throws is logged and goes no further.
     *
     * @param failure null if it succeeded
     */
    public static void completeGuarded(BlockRequest request, @Nullable StorageException failure) {
        try {
            complete(request, failure);
        } catch (RuntimeException | Error e) {
            LOG.log(System.Logger.Level.ERROR, "the completion of " + request + " failed", e);
        }
    }

    /**
     * Executes a request on this thread and completes it with the result, whatever it is. A buffer that this thread
     * cannot access, because its arena is closed or confined to another thread, fails the request with
     * {@link InvalidRequestException}; any other unchecked exception of the device, with {@link BusyException}.
     *
     * @param device executes the request; often the device whose {@code submit} this is, or the one below it
     */
    public static void executeAndComplete(BlockRequest request, BlockDevice device) {
        StorageException failure = null;
        try {
            device.execute(request);
        } catch (StorageException e) {
            failure = e;
        } catch (IllegalStateException | WrongThreadException e) {
            failure = new InvalidRequestException(
                    request + ": the buffer cannot be used: " + e.getMessage(), e);
        } catch (RuntimeException | OutOfMemoryError e) { // or the request would never complete
            failure = new BusyException(request + ": internal error of the device: " + e, e);
        }
        complete(request, failure);
    }
}
