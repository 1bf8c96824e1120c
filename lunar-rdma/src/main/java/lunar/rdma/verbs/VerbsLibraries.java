package lunar.rdma.verbs;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import lunar.rdma.ProviderException;
import lunar.rdma.RdmaUnavailableException;
import lunar.rdma.posix.NativeAccess;
import org.jspecify.annotations.Nullable;

/**
 * The two libraries, loaded once per process.
 *
 * @param verbs functions of libibverbs
 * @param cm functions of librdmacm
 * @param events of the devices that have been opened, by their contexts; guarded by itself
 */
record VerbsLibraries(VerbsCalls verbs, CmCalls cm, Map<Long, DeviceEvents> events) {
    private static final Path CM_DEVICE = Path.of("/dev/infiniband/rdma_cm");

    /** Loads on first use. */
    private static final class Holder {
        static final @Nullable VerbsLibraries LIBRARIES;
        static final String PROBLEM;

        static {
            VerbsLibraries libraries = null;
            String problem = "";
            try {
                libraries = new VerbsLibraries(
                        new VerbsCalls(NativeLibrary.load("libibverbs.so.1")),
                        new CmCalls(NativeLibrary.load("librdmacm.so.1")), new HashMap<>());
            } catch (UnsatisfiedLinkError e) {
                problem = String.valueOf(e.getMessage());
            }
            LIBRARIES = libraries;
            PROBLEM = problem;
        }
    }

    /**
     * Returns the libraries.
     *
     * @throws RdmaUnavailableException if one is missing, or cannot be called
     */
    static VerbsLibraries load() throws RdmaUnavailableException {
        boolean supported = "Linux".equals(System.getProperty("os.name"))
                && "64".equals(System.getProperty("sun.arch.data.model"));
        if (!supported) {
            throw new RdmaUnavailableException("verbs needs 64-bit Linux");
        }
        if (!NativeAccess.isEnabled()) {
            throw new RdmaUnavailableException(NativeAccess.MISSING);
        }
        VerbsLibraries libraries = Holder.LIBRARIES;
        if (libraries == null) {
            throw new RdmaUnavailableException(Holder.PROBLEM);
        }
        return libraries;
    }

    /** Returns the events of a device, by the address of its context. */
    DeviceEvents eventsOf(long context) throws ProviderException {
        synchronized (events) {
            DeviceEvents of = events.get(context);
            if (of == null) {
                of = DeviceEvents.of(verbs, context);
                events.put(context, of);
            }
            return of;
        }
    }

    /** Checks that librdmacm can open its device; without it, the library prints messages of its own. */
    static void checkConnectionManager() throws RdmaUnavailableException {
        if (!Files.exists(CM_DEVICE)) {
            throw new RdmaUnavailableException(CM_DEVICE + " is missing: modprobe rdma_ucm");
        }
        if (!Files.isReadable(CM_DEVICE) || !Files.isWritable(CM_DEVICE)) {
            throw new RdmaUnavailableException("no permission for " + CM_DEVICE);
        }
    }
}
