package lunar.iscsi.spi;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Function;
import lunar.iscsi.framing.PduReceiver;

/** Creates connections of one transport; found by {@link java.util.ServiceLoader}. */
public interface TransportProvider {
    /** URI scheme of these connections: {@code iscsi} for TCP, {@code iscsis} for TLS, {@code iser} for RDMA. */
    String scheme();

    /**
     * Starts event loops for connections of this kind. The caller closes them; their connections end with them.
     *
     * @param name begins the names of the loops' threads
     */
    Loops start(String name, LoopOptions options) throws IOException;

    /**
     * Reads the TLS files of a portal, without listening on it. A transport without TLS reads none.
     *
     * @throws IOException if the portal cannot use them; the message is one line, and names the file, if one is at
     *         fault
     */
    default Credentials credentials(TlsFiles portal) throws IOException {
        return Credentials.NONE;
    }

    /** What a portal authenticates itself and its initiators with, in memory. Made and used by the same provider. */
    interface Credentials {
        /** Of a transport without TLS. */
        Credentials NONE = new Credentials() {
        };

        /**
         * Returns what is wrong with the validity of the portal's certificate, in one line for the operator; empty if
         * nothing is, and without TLS.
         *
         * @param notice how long before its end a certificate is worth a line
         */
        default Optional<String> problem(Instant now, Duration notice) {
            return Optional.empty();
        }
    }

    /** A group of event loops, which connects and listens. */
    interface Loops extends AutoCloseable {
        /**
         * Connects to a portal. Blocks, at most for {@code timeoutMs}.
         *
         * @param receiver makes the receiver of the new connection, on its loop's thread, before anything is read
         */
        Transport connect(InetSocketAddress portal, int timeoutMs,
                Function<Transport, PduReceiver> receiver) throws IOException;

        /**
         * Connects to a portal, as {@link #connect(InetSocketAddress, int, Function)} does. With TLS, it returns after
         * the handshake, in which the peer has proved that it is the portal's host.
         *
         * @param tls for transports with TLS; others ignore it
         * @throws IOException if there is no connection within that time, the files cannot be used, or the handshake
         *         fails; the message is one line
         */
        default Transport connect(InetSocketAddress portal, int timeoutMs, TlsFiles tls,
                Function<Transport, PduReceiver> receiver) throws IOException {
            return connect(portal, timeoutMs, receiver);
        }

        /**
         * Listens on a portal; port 0 picks a free one.
         *
         * @param receiver makes the receiver of each new connection, on its loop's thread, before anything is read
         */
        Listener listen(InetSocketAddress portal, Function<Transport, PduReceiver> receiver)
                throws IOException;

        /**
         * Listens on a portal, as {@link #listen(InetSocketAddress, Function)} does. With TLS, the receiver of a
         * connection is made before the handshake, so that limits and deadlines of the receiver hold for it too.
         *
         * @param tls for transports with TLS; others ignore it
         */
        default Listener listen(InetSocketAddress portal, Credentials tls,
                Function<Transport, PduReceiver> receiver) throws IOException {
            return listen(portal, receiver);
        }

        /**
         * Prepares memory that many commands use, such as that of a pool, for direct access. Memory that is not
         * registered can be used as well, at the cost of preparing it for each command.
         *
         * @return to be closed when no command uses the memory any longer
         */
        default Registration register(MemorySegment memory) { return Registration.NONE; }

        /**
         * Ends all connections, then the loops; waits until they have ended. When it returns, all data that were handed
         * to its connections are released. Idempotent.
         */
        @Override
        void close();
    }

    /** Memory that a transport accesses directly. */
    @FunctionalInterface
    interface Registration extends AutoCloseable {
        /** Has nothing to end. */
        Registration NONE = () -> {};

        /** Ends the registration; the memory may be freed afterwards. */
        @Override
        void close();
    }

    /** A portal that is listened on. */
    interface Listener extends AutoCloseable {
        /** Where it listens, with the real port. */
        InetSocketAddress local();

        /** Makes new connections use other credentials; existing ones continue. */
        default void use(Credentials tls) {}

        /** Stops accepting connections; existing ones continue. */
        @Override
        void close();
    }
}
