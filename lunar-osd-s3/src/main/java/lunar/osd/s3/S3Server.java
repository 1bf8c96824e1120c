package lunar.osd.s3;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import lunar.osd.s3.backend.ObjectBackend;
import lunar.osd.s3.bucket.Buckets;
import lunar.osd.s3.http.Limits;
import lunar.osd.s3.http.RequestThreads;
import lunar.osd.s3.http.S3Handler;
import lunar.osd.s3.signature.AccessKeys;
import lunar.osd.s3.signature.AnonymousRequests;
import lunar.osd.s3.signature.Authenticator;

/** An HTTP server with the S3 protocol. Thread-safe. */
public final class S3Server implements AutoCloseable {
    private static final int MAX_CONNECTIONS = 256;
    private static final int MAX_HEADERS = 100;
    private static final int MAX_HEADER_BYTES = 64 << 10;
    private static final String CONNECTIONS = "jdk.httpserver.maxConnections";

    private final HttpServer server;
    private final RequestThreads threads;
    private final ExecutorService upkeep;

    private S3Server(HttpServer server, RequestThreads threads, ExecutorService upkeep) {
        this.server = server;
        this.threads = threads;
        this.upkeep = upkeep;
    }

    /**
     * Starts a server.
     *
     * @param backend the device; not closed by the server
     * @throws IOException if the device fails, or the address is in use
     */
    public static S3Server start(ObjectBackend backend, S3Options options) throws IOException {
        return start(backend, options, Limits.DEFAULT, InstantSource.system());
    }

    static S3Server start(ObjectBackend backend, S3Options options, Limits limits,
            InstantSource clock) throws IOException {
        if (options.keys().isEmpty() && !options.allowAnonymous()) {
            throw new IllegalArgumentException("a server without access keys refuses every"
                    + " request; set keys, or permit anonymous requests");
        }
        // Limits that the JDK's server accepts only as system properties; existing values are kept.
        property(CONNECTIONS, Integer.toString(MAX_CONNECTIONS));
        property("sun.net.httpserver.maxReqHeaders", Integer.toString(MAX_HEADERS));
        property("sun.net.httpserver.maxReqHeaderSize", Integer.toString(MAX_HEADER_BYTES));
        property("sun.net.httpserver.nodelay", "true");
        ExecutorService upkeep = Executors.newSingleThreadExecutor(
                Thread.ofPlatform().daemon().name("s3-upkeep").factory());
        HttpServer server = null;
        try {
            Buckets buckets = Buckets.open(backend, options.flushes(), clock, upkeep);
            server = HttpServer.create(options.address(), 0);
            var threads = new RequestThreads(Integer.getInteger(CONNECTIONS, MAX_CONNECTIONS),
                    limits.clientTimeout());
            server.setExecutor(threads);
            var authenticator = new Authenticator(new AccessKeys(options.keys()),
                    anonymous(options), clock);
            server.createContext("/", new S3Handler(buckets, authenticator, threads,
                    options.domains(), limits, clock));
            server.start();
            return new S3Server(server, threads, upkeep);
        } catch (IOException | RuntimeException e) {
            upkeep.shutdownNow();
            if (server != null) {
                server.stop(0);
            }
            throw e;
        }
    }

    private static AnonymousRequests anonymous(S3Options options) {
        if (!options.allowAnonymous()) {
            return AnonymousRequests.refused();
        }
        var names = new ArrayList<>(options.domains());
        names.add(options.address().getHostString());
        return AnonymousRequests.allowed(names);
    }

    private static void property(String name, String value) {
        if (System.getProperty(name) == null) {
            System.setProperty(name, value);
        }
    }

    /** Returns the address where it listens. */
    public InetSocketAddress address() {
        return server.getAddress();
    }

    /** Stops the server; requests in progress are aborted. */
    @Override
    public void close() {
        server.stop(0);
        threads.close();
        upkeep.shutdownNow();
    }
}
