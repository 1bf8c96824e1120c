package lunar.rdma;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Signals a failure of RDMA. The message names the device or peer and the operation; the type tells a program what to
 * do.
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

    /** Whether the same call may succeed later, without a change of configuration. */
    public abstract boolean retryable();
}
