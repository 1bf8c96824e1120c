package lunar.iscsi.spi;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.function.Function;
import lunar.iscsi.framing.PduReceiver;

/** Creates connections of one transport; found by {@link java.util.ServiceLoader}. */
public interface TransportProvider {
    /** URI scheme of these connections: {@code iscsi} for TCP, {@code iser} for RDMA. */
    String scheme();

    /**
     * Starts event loops for connections of this kind. The caller closes them; their connections end with them.
     *
     * @param name begins the names of the loops' threads
     */
    Loops start(String name, LoopOptions options) throws IOException;

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
         * Listens on a portal; port 0 picks a free one.
         *
         * @param receiver makes the receiver of each new connection, on its loop's thread, before anything is read
         */
        Listener listen(InetSocketAddress portal, Function<Transport, PduReceiver> receiver)
                throws IOException;

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

        /** Stops accepting connections; existing ones continue. */
        @Override
        void close();
    }
}
