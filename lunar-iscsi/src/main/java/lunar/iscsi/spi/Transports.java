package lunar.iscsi.spi;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import lunar.iscsi.spi.TransportProvider.Loops;
import lunar.iscsi.spi.TransportProvider.Registration;

/**
 * The transports of an initiator or a target server, by the scheme that names them in URIs and portals. The event loops
 * of each start with its first use. Thread-safe.
 */
public final class Transports implements AutoCloseable {
    /** The scheme of TCP (RFC 7143). */
    public static final String ISCSI = "iscsi";

    /** The scheme of TCP with TLS 1.3, an extension. */
    public static final String ISCSIS = "iscsis";

    /** The scheme of RDMA (RFC 7145). */
    public static final String ISER = "iser";

    /** Modules of Lunar that have a transport, by its scheme: named to a user whose program lacks one of them. */
    private static final Map<String, String> MODULES = Map.of(ISCSI, "lunar-tcp", ISCSIS,
            "lunar-tcp", ISER, "lunar-iser");

    private final String name;
    private final LoopOptions options;
    private final Map<String, Loops> running = new LinkedHashMap<>();
    private final Set<Registered> memory = new HashSet<>();
    private boolean closed;

    /** Memory that is registered with each transport that is running. */
    private final class Registered implements Registration {
        private final MemorySegment segment;
        private final List<Registration> registrations = new ArrayList<>();

        Registered(MemorySegment segment) { this.segment = segment; }

        void with(Loops loops) { registrations.add(loops.register(segment)); }

        @Override
        public void close() {
            synchronized (running) {
                if (memory.remove(this)) {
                    registrations.forEach(Registration::close);
                }
            }
        }
    }

    /**
     * Starts nothing yet.
     *
     * @param name begins the names of the loops' threads
     * @param options of the event loops of each transport
     */
    public Transports(String name, LoopOptions options) {
        this.name = name;
        this.options = options;
    }

    /**
     * Returns the event loops of a transport; starts them first where it has not been used yet.
     *
     * @throws IOException if no module has such a transport, its loops cannot start, or this object is closed
     */
    public Loops loops(String scheme) throws IOException {
        synchronized (running) {
            if (closed) {
                throw new IOException(name + " is closed");
            }
            Loops loops = running.get(scheme);
            if (loops == null) {
                loops = provider(scheme).start(name, options);
                running.put(scheme, loops);
                for (Registered registered : memory) {
                    registered.with(loops);
                }
            }
            return loops;
        }
    }

    private static TransportProvider provider(String scheme) throws IOException {
        var known = new TreeSet<String>();
        for (TransportProvider provider : ServiceLoader.load(TransportProvider.class,
                TransportProvider.class.getClassLoader())) {
            if (provider.scheme().equals(scheme)) {
                return provider;
            }
            known.add(provider.scheme());
        }
        throw new IOException("no transport for " + scheme + missing(scheme, known));
    }

    private static String missing(String scheme, Set<String> known) {
        String artifact = MODULES.get(scheme);
        if (artifact == null) {
            return "; available: " + (known.isEmpty() ? "none" : String.join(", ", known));
        }
        return ": org.lunar:" + artifact + " is missing at run time; add it"
                + (artifact.equals("lunar-tcp") ? ", or org.lunar:lunar-starter," : "")
                + " to the dependencies, and on the module path start Java with --add-modules "
                + artifact.replace('-', '.');
    }

    /**
     * Reads the TLS files of a portal, without starting anything.
     *
     * @throws IOException if no module has such a transport, or it cannot use the files; the message is one line
     */
    public static TransportProvider.Credentials credentials(String scheme, TlsFiles portal)
            throws IOException {
        return provider(scheme).credentials(portal);
    }

    /** Registers memory that many commands use with each transport, also with those that start later. */
    public Registration register(MemorySegment segment) {
        var registered = new Registered(segment);
        synchronized (running) {
            if (!closed) {
                memory.add(registered);
                running.values().forEach(registered::with);
            }
        }
        return registered;
    }

    /** Ends all connections and event loops; waits until they have ended. Idempotent. */
    @Override
    public void close() {
        List<Loops> ending;
        synchronized (running) {
            closed = true;
            ending = List.copyOf(running.values());
            running.clear();
        }
        ending.forEach(Loops::close);
        synchronized (running) {
            List.copyOf(memory).forEach(Registered::close);
        }
    }
}
