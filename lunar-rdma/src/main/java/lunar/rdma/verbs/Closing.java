package lunar.rdma.verbs;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import lunar.rdma.ProviderException;

/** Frees native objects. A failure leaks the object, and is logged, since callers cannot handle it. */
final class Closing {
    private static final Logger LOG = System.getLogger(Closing.class.getName());

    /** A call that frees something. */
    @FunctionalInterface
    interface Call {
        void run() throws ProviderException;
    }

    private Closing() {}

    static void quietly(Call call) {
        try {
            call.run();
        } catch (ProviderException e) {
            LOG.log(Level.WARNING, "RDMA resource not freed: " + e.getMessage());
        }
    }
}
