package lunar.admin.http;

import io.helidon.common.socket.SocketOptions;
import java.net.SocketOption;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Options of the connections of a listener, which also call a hook for each connection. The web server applies them to
 * each connection that it accepts, and closes it where that fails.
 *
 * @param usual the options themselves
 * @param isTcp whether the connections have the options of TCP
 * @param hook called with each connection; throws to refuse it
 */
record ConnectionOptions(SocketOptions usual, boolean isTcp, Consumer<SocketChannel> hook)
        implements SocketOptions {
    @Override
    public void configureSocket(SocketChannel channel) {
        if (isTcp) {
            usual.configureSocket(channel);
        }
        hook.accept(channel);
    }

    @Override
    public Map<SocketOption<?>, Object> socketOptions() { return usual.socketOptions(); }

    @Override
    public Duration connectTimeout() { return usual.connectTimeout(); }

    @Override
    public Duration readTimeout() { return usual.readTimeout(); }

    @Override
    public Optional<Integer> socketReceiveBufferSize() { return usual.socketReceiveBufferSize(); }

    @Override
    public Optional<Integer> socketSendBufferSize() { return usual.socketSendBufferSize(); }

    @Override
    public boolean socketReuseAddress() { return usual.socketReuseAddress(); }

    @Override
    public boolean socketKeepAlive() { return usual.socketKeepAlive(); }

    @Override
    public boolean tcpNoDelay() { return usual.tcpNoDelay(); }
}
