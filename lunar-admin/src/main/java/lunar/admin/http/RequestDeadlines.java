package lunar.admin.http;

import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Closes connections whose next request, or whose response, takes too long. The web server itself closes only
 * connections that have not begun a request, so a client that sends one byte at a time would keep its place forever.
 * Each connection has a virtual thread that sleeps until its deadline. Thread-safe.
 */
final class RequestDeadlines {
    private static final long MAX_SLEEP_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final long requestNanos;
    private final long responseNanos;
    private final Map<String, Connection> connections = new ConcurrentHashMap<>();

    private static final class Connection {
        private final SocketChannel channel;
        private volatile long deadlineNanos;

        Connection(SocketChannel channel, long nanos) {
            this.channel = channel;
            extend(nanos);
        }

        void extend(long nanos) { deadlineNanos = System.nanoTime() + nanos; }

        /** Blocks until the connection is closed, by its peer, the web server or its deadline. */
        void watch() throws IOException, InterruptedException {
            while (channel.isOpen()) {
                long left = deadlineNanos - System.nanoTime();
                if (left <= 0) {
                    channel.close();
                    return;
                }
                TimeUnit.NANOSECONDS.sleep(Math.min(left, MAX_SLEEP_NANOS));
            }
        }
    }

    /**
     * @param request time from the start of a connection, or the last response, to the end of the headers
     * @param response time from there, with the body, to the end of the response
     */
    RequestDeadlines(Duration request, Duration response) {
        requestNanos = request.toNanos();
        responseNanos = response.toNanos();
    }

    /** Starts to watch a connection. */
    void add(SocketChannel channel) {
        var connection = new Connection(channel, requestNanos);
        String id = idOf(channel);
        connections.put(id, connection);
        Thread.ofVirtual().name("lunar-admin-deadline").start(() -> {
            try {
                connection.watch();
            } catch (IOException | InterruptedException e) {
                System.getLogger("lunar.admin").log(System.Logger.Level.DEBUG, "close", e);
            } finally {
                connections.remove(id, connection);
            }
        });
    }

    /** Handles a request, whose headers are in. The time of the response includes that of reading its body. */
    void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
        Connection connection = connections.get(request.socketId());
        if (connection == null) { // just closed
            chain.proceed();
            return;
        }
        connection.extend(responseNanos);
        try {
            chain.proceed();
        } finally {
            connection.extend(requestNanos);
        }
    }

    /** Returns the name that the web server gives to a connection. */
    private static String idOf(SocketChannel channel) {
        return "0x" + HexFormat.of().toHexDigits(System.identityHashCode(channel));
    }
}
