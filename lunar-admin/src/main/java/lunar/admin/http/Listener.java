package lunar.admin.http;

import io.helidon.common.socket.SocketOptions;
import io.helidon.common.tls.Tls;
import io.helidon.http.HeaderNames;
import io.helidon.http.Status;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.WebServerConfig;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.helidon.webserver.http1.Http1Config;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import lunar.admin.tls.ServerTls;

/**
 * A web server of the admin API on one address. It has few connections, because its clients are an operator and a
 * monitoring system: more of them wait.
 */
public final class Listener implements AutoCloseable {
    private static final int MAX_CONNECTIONS = 32;
    private static final int MAX_REQUESTS = 16;
    private static final int MAX_LINE_BYTES = 2048;
    private static final int MAX_HEADERS_BYTES = 8 << 10;
    /** Bytes of sun_path, less its terminator (unix(7)). */
    private static final int MAX_PATH_BYTES = 107;
    private static final Duration MAX_IDLE = Duration.ofSeconds(30);
    private static final Duration IDLE_CHECK = Duration.ofSeconds(5);
    private static final Duration GRACE = Duration.ofMillis(500);

    /** Time of a response: a reload or a change may have to open devices, and its client waits 3 minutes. */
    private static final Duration MAX_RESPONSE = Duration.ofMinutes(4);

    private final WebServer server;
    private final SocketAddress address;

    private Listener(WebServer server, SocketAddress address) {
        this.server = server;
        this.address = address;
    }

    /**
     * Starts to listen.
     *
     * @param token the token that requests need; none where the address protects them
     * @param tls TLS of the connections; none without
     * @throws IOException if it cannot listen; one line for the operator
     */
    public static Listener start(SocketAddress address, Api api, Optional<Token> token,
            Optional<ServerTls> tls) throws IOException {
        return start(address, api, token, tls, new RequestDeadlines(MAX_IDLE, MAX_RESPONSE));
    }

    static Listener start(SocketAddress address, Api api, Optional<Token> token,
            Optional<ServerTls> tls, RequestDeadlines deadlines) throws IOException {
        HttpRouting.Builder routing = HttpRouting.builder();
        routing.addFilter(deadlines::filter);
        token.ifPresent(secret -> routing.addFilter(
                (chain, request, response) -> authenticate(secret, chain, request, response)));
        if (address instanceof UnixDomainSocketAddress) {
            routing.addFilter(Listener::refuseBrowsers);
        }
        api.addTo(routing);
        try {
            requireUsable(address);
            WebServerConfig.Builder builder = WebServer.builder().shutdownHook(false)
                    .featuresDiscoverServices(false).bindAddress(address)
                    .addProtocol(Http1Config.builder().maxPrologueLength(MAX_LINE_BYTES)
                            .maxHeadersSize(MAX_HEADERS_BYTES).build())
                    .maxPayloadSize(JsonBody.MAX_BYTES).maxTcpConnections(MAX_CONNECTIONS)
                    .maxConcurrentRequests(MAX_REQUESTS).idleConnectionTimeout(MAX_IDLE)
                    .idleConnectionPeriod(IDLE_CHECK).shutdownGracePeriod(GRACE).routing(routing)
                    .connectionOptions(options(address, deadlines));
            tls.ifPresent(handshakes -> use(handshakes, builder));
            WebServer server = builder.build().start();
            if (!server.isRunning()) {
                throw new IOException("the web server does not start; its log has the cause");
            }
            return new Listener(server, address instanceof InetSocketAddress inet
                    ? new InetSocketAddress(inet.getAddress(), server.port())
                    : address);
        } catch (IOException e) {
            throw new IOException("the admin API cannot listen on " + printable(address) + ": "
                    + e.getMessage(), e);
        }
    }

    /**
     * Makes connections use TLS. Not with NIO, where the web server asks DNS for the name of each client before the
     * handshake, which takes seconds where no DNS server answers.
     */
    private static void use(ServerTls tls, WebServerConfig.Builder builder) {
        builder.useNio(false).tls(Tls.builder().managerDiscoverServices(false)
                .sslContext(tls.context()).build());
    }

    /**
     * Refuses requests of web pages, which reach a Unix socket where somebody has forwarded a port to it, and which
     * need no token there: those of a page have an Origin, or the name of its host.
     */
    private static void refuseBrowsers(FilterChain chain, RoutingRequest request,
            RoutingResponse response) {
        boolean isProgram = request.headers().first(HeaderNames.HOST)
                .equals(Optional.of("localhost"))
                && request.headers().first(HeaderNames.ORIGIN).isEmpty();
        if (isProgram) {
            chain.proceed();
        } else {
            JsonResponses.error(request, response, Status.FORBIDDEN_403,
                    "a Unix socket takes requests with 'Host: localhost' and without Origin;"
                            + " for browsers, configure 'listen' and 'token-file' in [admin]");
        }
    }

    /** Throws if an address cannot be used, of which the web server would log a stack trace and return normally. */
    private static void requireUsable(SocketAddress address) throws IOException {
        if (!(address instanceof UnixDomainSocketAddress unix)) {
            try (var probe = ServerSocketChannel.open()) {
                probe.bind(address);
            }
            return;
        }
        Path path = unix.getPath().toAbsolutePath();
        if (path.toString().getBytes(StandardCharsets.UTF_8).length > MAX_PATH_BYTES) {
            throw new IOException("the path is too long: a socket's has at most " + MAX_PATH_BYTES
                    + " bytes");
        }
        Path directory = Objects.requireNonNull(path.getParent(), "the parent of a socket");
        if (!Files.isDirectory(directory)) {
            throw new IOException("the directory " + directory + " does not exist");
        }
        if (!Files.isWritable(directory)) {
            throw new IOException("the directory " + directory + " cannot be written to");
        }
    }

    private static ConnectionOptions options(SocketAddress address, RequestDeadlines deadlines)
            throws IOException {
        if (!(address instanceof UnixDomainSocketAddress unix)) {
            return new ConnectionOptions(SocketOptions.create(), true, deadlines::add);
        }
        var owner = OwnerOnly.of(unix.getPath());
        return new ConnectionOptions(SocketOptions.create(), false, channel -> {
            owner.check(channel);
            deadlines.add(channel);
        });
    }

    private static String printable(SocketAddress address) {
        return address instanceof InetSocketAddress inet
                ? inet.getHostString() + ":" + inet.getPort()
                : address.toString();
    }

    private static void authenticate(Token token, FilterChain chain, RoutingRequest request,
            RoutingResponse response) {
        if (Api.isPublic(request.path().path())
                || request.headers().first(HeaderNames.AUTHORIZATION).filter(token::admits)
                        .isPresent()) {
            chain.proceed();
            return;
        }
        response.header(HeaderNames.WWW_AUTHENTICATE, "Bearer");
        JsonResponses.error(request, response, Status.UNAUTHORIZED_401,
                "this request needs the bearer token of the server's token file");
    }

    /** Returns the port of TCP. */
    public int port() { return server.port(); }

    /** Returns the address where it listens, with the port that was chosen. */
    SocketAddress address() {
        return address;
    }

    /** Whether nothing listens on the address. */
    boolean hasFailed() {
        try (var _ = SocketChannel.open(address)) {
            return false;
        } catch (ConnectException _) {
            return true;
        } catch (IOException _) { // this process may have too many open files
            return address instanceof UnixDomainSocketAddress unix
                    && Files.notExists(unix.getPath());
        }
    }

    /** Stops listening; requests have a moment to end. Also works on a thread that is interrupted. */
    @Override
    public void close() {
        boolean wasInterrupted = Thread.interrupted(); // the web server would not stop
        try {
            server.stop();
        } finally {
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
