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
     * @param disk the device to show; not closed by the server
     * @param uri name of the device on pages, without a secret
     * @param address address to listen on; port 0 selects a free port
     * @throws IOException if it cannot listen on the address
     */
    public static BrowseServer start(BrowsedDisk disk, String uri, InetSocketAddress address)
            throws IOException {
        // Limits that the JDK's server accepts only as system properties; existing values are kept.
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

    /** Stops the server; responses in progress are aborted. */
    @Override
    public void close() {
        server.stop(0);
        workers.shutdownNow();
    }
}
