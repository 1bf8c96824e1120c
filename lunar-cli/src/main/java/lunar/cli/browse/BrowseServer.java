package lunar.cli.browse;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;

/** An HTTP server that shows the files of a device. */
public final class BrowseServer implements AutoCloseable {
    private static final int MAX_CONNECTIONS = 256;
    private static final int REQUEST_SECONDS = 30;

    private final HttpServer server;
    private final ExecutorService workers;

    private BrowseServer(HttpServer server, ExecutorService workers) {
        this.server = server;
        this.workers = workers;
    }

    /**
     * Starts a server.
     *
     * @param disk what it shows; stays the caller's
     * @param uri how pages call it, without a secret
     * @param address where to listen; port 0 is a free one
     * @throws IOException when it cannot listen there
     */
    public static BrowseServer start(BrowsedDisk disk, String uri, InetSocketAddress address)
            throws IOException {
        // Limits that the JDK's server takes from nowhere else; values that are already set are kept.
        limit("jdk.httpserver.maxConnections", MAX_CONNECTIONS);
        limit("sun.net.httpserver.maxReqTime", REQUEST_SECONDS);
        HttpServer server = HttpServer.create(address, 0);
        ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor();
        server.setExecutor(workers);
        boolean loopback = server.getAddress().getAddress().isLoopbackAddress();
        Predicate<String> isOurHost = loopback ? BrowseServer::isLoopback : _ -> true;
        server.createContext("/", new BrowseHandler(uri, disk, isOurHost));
        server.start();
        return new BrowseServer(server, workers);
    }

    private static void limit(String property, int value) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, Integer.toString(value));
        }
    }

    /** Whether a Host header names this machine as itself, with any port. */
    static boolean isLoopback(String host) {
        String name = host.replaceFirst(":\\d*$", "").toLowerCase(Locale.ROOT);
        return name.equals("localhost") || name.equals("[::1]")
                || name.matches("127(\\.\\d{1,3}){3}");
    }

    /** Where it listens. */
    public InetSocketAddress address() { return server.getAddress(); }

    /** Stops the server: what is being sent is cut off. */
    @Override
    public void close() {
        server.stop(0);
        workers.shutdownNow();
    }
}
