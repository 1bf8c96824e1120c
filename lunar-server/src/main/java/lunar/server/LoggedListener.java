package lunar.server;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Delegates to a listener and logs its exceptions, so that the server continues. */
record LoggedListener(ServerListener listener) implements ServerListener {
    @Override
    public void warned(String message, @Nullable IOException cause) {
        run(() -> listener.warned(message, cause));
    }

    @Override
    public void resized(ServerChange change) { run(() -> listener.resized(change)); }

    private static void run(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException e) {
            System.getLogger("lunar.server").log(System.Logger.Level.ERROR,
                    "server listener failed", e);
        }
    }
}
