package lunar.server;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Receives the warnings and changes of a {@link StorageServer}. Called on threads of the server or of its caller, which
 * may hold the server's lock: implementations must return soon and must not call the server. Exceptions are logged.
 */
public interface ServerListener {
    /** Writes warnings to the log {@code lunar.server}. */
    ServerListener LOGGING = new ServerListener() {
    };

    /**
     * Called for a problem despite which the server continues.
     *
     * @param message description in one line
     * @param cause cause of a failure; null if there is none
     */
    default void warned(String message, @Nullable IOException cause) {
        System.getLogger("lunar.server").log(System.Logger.Level.WARNING, message, cause);
    }

    /** Called when the size of a served device has changed, which the initiators have been told. */
    default void resized(ServerChange change) {}
}
