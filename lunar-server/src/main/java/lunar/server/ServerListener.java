package lunar.server;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Receives the warnings and changes of a {@link StorageServer}. Called on threads of the server or of its caller, which
 * may hold the server's lock: it must return soon, and must not call the server. What it throws is logged.
 */
public interface ServerListener {
    /** Writes warnings to the log {@code lunar.server}. */
    ServerListener LOGGING = new ServerListener() {
    };

    /**
     * Called when something is not as it should be, and the server goes on.
     *
     * @param message one line for a person
     * @param cause what has failed; null if nothing has
     */
    default void warned(String message, @Nullable IOException cause) {
        System.getLogger("lunar.server").log(System.Logger.Level.WARNING, message, cause);
    }

    /** Called when the size of a served device has changed, which the initiators have been told. */
    default void resized(ServerChange change) {}
}
