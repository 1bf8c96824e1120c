package lunar.admin.client;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Thrown when no server answers at an address. The message is one line for the operator. */
public final class UnreachableException extends IOException {
    private static final long serialVersionUID = 1;

    private final boolean isConnected;

    /**
     * @param message one line that names the address
     * @param isConnected whether a process has the address, as far as known, but did not answer in full or in time
     */
    UnreachableException(String message, @Nullable Throwable cause, boolean isConnected) {
        super(message, cause);
        this.isConnected = isConnected;
    }

    /** Whether a process has the address, as far as known, but did not answer in full or in time. */
    public boolean isConnected() {
        return isConnected;
    }
}
