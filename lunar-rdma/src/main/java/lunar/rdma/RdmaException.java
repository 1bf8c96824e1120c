package lunar.rdma;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Signals a failure of an RDMA call. The message names the device or peer and the operation; the subtype and
 * {@link #retryable} tell the caller how to react.
 */
public abstract sealed class RdmaException extends IOException permits ConnectionException,
        EndpointStateException,
        OperationException,
        PrivateDataException,
        ProviderException,
        QueueFullException,
        RdmaUnavailableException,
        RegistrationException {
    private static final long serialVersionUID = 1;

    RdmaException(String message, @Nullable Throwable cause) { super(message, cause); }

    /** Whether the call may succeed later without a change of configuration. */
    public abstract boolean retryable();
}
