package lunar.tcp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** The socket of a connection: its addresses, and how it ends. Confined to the loop's thread, but for the addresses. */
final class TcpSocket {
    private static final System.Logger LOG = System.getLogger("lunar.tcp");

    private final SocketChannel channel;
    private final InetSocketAddress remote;
    private final InetSocketAddress local;
    private boolean outputShut;

    /** @param channel connected */
    TcpSocket(SocketChannel channel) throws IOException {
        this.channel = channel;
        remote = (InetSocketAddress) channel.getRemoteAddress();
        local = (InetSocketAddress) channel.getLocalAddress();
    }

    InetSocketAddress remote() { return remote; }

    InetSocketAddress local() { return local; }

    /** Sets how the socket closes: 0 for a reset, -1 for the end in order (setsockopt SO_LINGER, socket(7)). */
    void linger(int seconds) {
        try {
            channel.setOption(StandardSocketOptions.SO_LINGER, seconds);
        } catch (IOException | RuntimeException e) { // closed already
            LOG.log(System.Logger.Level.DEBUG, "linger of {0}: {1}", remote, e.toString());
        }
    }

    /** Shuts the output, unless it is shut. Returns false if that was impossible. */
    boolean shutOutput() {
        if (!outputShut) {
            outputShut = true;
            try {
                channel.shutdownOutput();
            } catch (IOException e) {
                LOG.log(System.Logger.Level.DEBUG, "end of output to {0}: {1}", remote, e);
                return false;
            }
        }
        return true;
    }

    /** Discards received bytes in at most {@code mostReads} reads: closing a socket with unread bytes sends a reset. */
    void discard(ByteBuffer buffer, int mostReads) {
        try {
            for (int i = 0; i < mostReads && channel.read(buffer.clear()) > 0; i++) {
                // discarded
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "last read from {0}: {1}", remote, e);
        }
    }

    /** Closes it as {@link #linger} has set. */
    void close() {
        SelectorSource.closeQuietly(channel);
    }
}
