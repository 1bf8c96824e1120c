package lunar.admin.client;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.URLEncoder;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A client of the admin API of one server. Each request has a connection of its own, because an operator asks seldom,
 * and a server that was restarted is then found again. Thread-safe.
 */
public final class AdminClient {
    /** Time to connect and to get a document. */
    private static final Duration READ_TIMEOUT = Duration.ofSeconds(30);
    /** Time to log a session out, for which the server waits 12 s at most, or to remove a LUN. */
    private static final Duration DELETE_TIMEOUT = Duration.ofMinutes(1);
    /** Time for an action: a reload may have to open devices, a drain waits for 130 s at most. */
    private static final Duration POST_TIMEOUT = Duration.ofMinutes(3);
    private static final JsonMapper MAPPER = JsonMapper.builder().build();
    private static final int FIRST_ERROR = 300;
    /** First byte of a record of TLS that reports an error (RFC 8446 section 5.1). */
    private static final int TLS_ALERT = 0x15;
    private static final byte[] NO_CONTENT = {};

    private final SocketAddress address;
    private final Optional<String> token;
    private final Optional<ClientTls> tls;
    private final Optional<Duration> timeout;

    private AdminClient(SocketAddress address, Optional<String> token, Optional<ClientTls> tls,
            Optional<Duration> timeout) {
        this.address = address;
        this.token = token;
        this.tls = tls;
        this.timeout = timeout;
    }

    /** Returns a client of the server with this Unix socket. */
    public static AdminClient of(Path socket) {
        return new AdminClient(UnixDomainSocketAddress.of(socket), Optional.empty(),
                Optional.empty(), Optional.empty());
    }

    /** Returns a client of the server that listens on this address of TCP. */
    public static AdminClient of(InetSocketAddress address, String token) {
        return new AdminClient(address, Optional.of(token), Optional.empty(), Optional.empty());
    }

    /**
     * Returns a client that uses TLS.
     *
     * @param address of the server; its host name, or address where it has none, must be in the server's certificate
     */
    public static AdminClient of(InetSocketAddress address, String token, ClientTls tls) {
        return new AdminClient(address, Optional.of(token), Optional.of(tls), Optional.empty());
    }

    /** Returns a client with a limit of its own for each request, from connecting to the end of the response. */
    public AdminClient withTimeout(Duration most) {
        return new AdminClient(address, token, tls, Optional.of(most));
    }

    /**
     * Gets a document.
     *
     * @param path such as {@code /v1/status}
     * @throws UnreachableException if no server answers
     * @throws RequestFailedException if the server reports an error
     * @throws IOException if the response is invalid, or one end of TLS does not trust the other; the message is one
     *         line
     */
    public JsonNode get(String path) throws IOException {
        return json(send("GET", path, READ_TIMEOUT));
    }

    /** Gets a document that is not JSON; otherwise like {@link #get}. */
    public String text(String path) throws IOException {
        return new String(successful(send("GET", path, READ_TIMEOUT)).body(),
                StandardCharsets.UTF_8);
    }

    /** Performs an action; otherwise like {@link #get}. */
    public JsonNode post(String path) throws IOException {
        return json(send("POST", path, POST_TIMEOUT));
    }

    /**
     * Performs an action; otherwise like {@link #get}.
     *
     * @param content what the request contains: a tree of maps, lists, strings, numbers and booleans
     */
    public JsonNode post(String path, Map<String, Object> content) throws IOException {
        return json(send("POST", path, MAPPER.writeValueAsBytes(content), POST_TIMEOUT));
    }

    /** Changes what a path names; otherwise like {@link #post(String, Map)}. */
    public JsonNode patch(String path, Map<String, Object> content) throws IOException {
        return json(send("PATCH", path, MAPPER.writeValueAsBytes(content), POST_TIMEOUT));
    }

    /** Removes what a path names; otherwise like {@link #get}. */
    public JsonNode delete(String path) throws IOException {
        return json(send("DELETE", path, DELETE_TIMEOUT));
    }

    /** Returns a name, such as that of a target or a volume, as a part of a path. */
    public static String segment(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static JsonNode json(HttpAnswer answer) throws IOException {
        return parse(successful(answer).body());
    }

    private static JsonNode parse(byte[] body) throws IOException {
        try {
            return MAPPER.readTree(body);
        } catch (JacksonException e) {
            throw new IOException("the server's response is no JSON: " + e.getOriginalMessage(), e);
        }
    }

    private static HttpAnswer successful(HttpAnswer answer) throws IOException {
        if (answer.status() < FIRST_ERROR) {
            return answer;
        }
        String error = "";
        try {
            error = parse(answer.body()).path("error").asString("");
        } catch (IOException _) {
            // an error of the web server itself, which has no JSON
        }
        throw new RequestFailedException(answer.status(), error.isEmpty()
                ? "the server refused the request with HTTP status " + answer.status()
                : error);
    }

    private HttpAnswer send(String method, String path, Duration usual) throws IOException {
        return send(method, path, NO_CONTENT, usual);
    }

    private HttpAnswer send(String method, String path, byte[] content, Duration usual)
            throws IOException {
        Duration limit = timeout.orElse(usual);
        String head = method + " " + path + " HTTP/1.1\r\nHost: " + host() + "\r\n"
                + "Connection: close\r\nContent-Length: " + content.length + "\r\n"
                + (content.length == 0 ? "" : "Content-Type: application/json\r\n")
                + token.map(secret -> "Authorization: Bearer " + secret + "\r\n").orElse("")
                + "\r\n";
        try (SocketChannel channel = open()) {
            CompletableFuture<Boolean> isLate = closeAfter(channel, limit);
            boolean isConnected = false;
            try {
                isConnected = channel.connect(address);
                return exchange(channel, head.getBytes(StandardCharsets.US_ASCII), content);
            } catch (ProtocolException e) {
                throw e;
            } catch (IOException e) {
                if (isLate.getNow(false)) {
                    throw new UnreachableException("the server at " + address
                            + " does not answer within " + limit.toSeconds() + " s", e, true);
                }
                throw unreachable(e, isConnected);
            } finally {
                isLate.complete(false);
            }
        }
    }

    /** Returns the value of the header Host. A Unix socket takes no other than this; a proxy may want its own name. */
    private String host() {
        return tls.isPresent() && address instanceof InetSocketAddress inet
                ? authority(inet)
                : "localhost";
    }

    private static String authority(InetSocketAddress address) {
        String host = address.getHostString();
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + address.getPort();
    }

    private HttpAnswer exchange(SocketChannel channel, byte[] head, byte[] content)
            throws IOException {
        if (tls.isPresent() && address instanceof InetSocketAddress inet) {
            SSLSocket socket = tls.get().connect(channel.socket(), inet);
            return exchange(socket.getInputStream(), socket.getOutputStream(), head, content);
        }
        return exchange(Channels.newInputStream(channel), Channels.newOutputStream(channel), head,
                content);
    }

    private HttpAnswer exchange(InputStream from, OutputStream to, byte[] head, byte[] content)
            throws IOException {
        to.write(head);
        to.write(content);
        to.flush();
        var in = new BufferedInputStream(from);
        in.mark(1);
        if (in.read() == TLS_ALERT) {
            throw new ProtocolException("the server at " + address
                    + " uses TLS: write the address as https://HOST:PORT");
        }
        in.reset();
        return HttpAnswer.read(in);
    }

    private IOException unreachable(IOException e, boolean isConnected) {
        boolean isClosed = e.getCause() instanceof EOFException
                || e.getCause() instanceof SocketException;
        if (e instanceof SSLException failed && !isClosed
                && address instanceof InetSocketAddress inet) {
            return new IOException(ClientTls.reason(failed, inet), e);
        }
        return new UnreachableException(isConnected
                ? "the server at " + address + " has closed the connection without a whole"
                        + " response: " + e.getMessage()
                        + (tls.isPresent() ? "; it may require a certificate of the client" : "")
                : "no server answers at " + address + ": " + e.getMessage(), e, isConnected);
    }

    private SocketChannel open() throws IOException {
        return address instanceof UnixDomainSocketAddress
                ? SocketChannel.open(StandardProtocolFamily.UNIX)
                : SocketChannel.open();
    }

    /** Closes a channel when the time is over, and completes the returned future with true, unless that is complete. */
    private static CompletableFuture<Boolean> closeAfter(SocketChannel channel, Duration most) {
        var isLate = new CompletableFuture<Boolean>();
        CompletableFuture.delayedExecutor(most.toMillis(), TimeUnit.MILLISECONDS).execute(() -> {
            if (isLate.complete(true)) {
                try {
                    channel.close();
                } catch (IOException e) {
                    System.getLogger("lunar.admin").log(System.Logger.Level.DEBUG, "close", e);
                }
            }
        });
        return isLate;
    }
}
