package lunar.admin.client;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
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
    /** Time to log a session out, for which the server waits 12 s at most. */
    private static final Duration DELETE_TIMEOUT = Duration.ofSeconds(30);
    /** Time for an action: a reload may have to open devices. */
    private static final Duration POST_TIMEOUT = Duration.ofMinutes(3);
    private static final JsonMapper MAPPER = JsonMapper.builder().build();
    private static final int FIRST_ERROR = 300;

    private final SocketAddress address;
    private final Optional<String> token;
    private final Optional<Duration> timeout;

    private AdminClient(SocketAddress address, Optional<String> token,
            Optional<Duration> timeout) {
        this.address = address;
        this.token = token;
        this.timeout = timeout;
    }

    /** Returns a client of the server with this Unix socket. */
    public static AdminClient of(Path socket) {
        return new AdminClient(UnixDomainSocketAddress.of(socket), Optional.empty(),
                Optional.empty());
    }

    /** Returns a client of the server that listens on this address of TCP. */
    public static AdminClient of(InetSocketAddress address, String token) {
        return new AdminClient(address, Optional.of(token), Optional.empty());
    }

    /** Returns a client with a limit of its own for each request, from connecting to the end of the response. */
    public AdminClient withTimeout(Duration most) {
        return new AdminClient(address, token, Optional.of(most));
    }

    /**
     * Gets a document.
     *
     * @param path such as {@code /v1/status}
     * @throws UnreachableException if no server answers
     * @throws RequestFailedException if the server reports an error
     * @throws IOException if the response is invalid; the message is one line
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

    /** Removes what a path names; otherwise like {@link #get}. */
    public JsonNode delete(String path) throws IOException {
        return json(send("DELETE", path, DELETE_TIMEOUT));
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
        Duration limit = timeout.orElse(usual);
        String request = method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n"
                + "Connection: close\r\nContent-Length: 0\r\n"
                + token.map(secret -> "Authorization: Bearer " + secret + "\r\n").orElse("")
                + "\r\n";
        try (SocketChannel channel = open()) {
            CompletableFuture<Void> done = closeAfter(channel, limit);
            boolean isConnected = false;
            try {
                isConnected = channel.connect(address);
                ByteBuffer out = ByteBuffer.wrap(request.getBytes(StandardCharsets.US_ASCII));
                while (out.hasRemaining()) {
                    int _ = channel.write(out);
                }
                InputStream in = new BufferedInputStream(Channels.newInputStream(channel));
                return HttpAnswer.read(in);
            } catch (ProtocolException e) {
                throw e;
            } catch (IOException e) {
                throw unreachable(e, isConnected, limit);
            } finally {
                done.complete(null);
            }
        }
    }

    private UnreachableException unreachable(IOException e, boolean isConnected, Duration limit) {
        if (e instanceof ClosedChannelException) { // by closeAfter
            return new UnreachableException("the server at " + address
                    + " does not answer within " + limit.toSeconds() + " s", e, true);
        }
        return new UnreachableException(isConnected
                ? "the server at " + address + " has closed the connection without a whole"
                        + " response: " + e.getMessage()
                : "no server answers at " + address + ": " + e.getMessage(), e, isConnected);
    }

    private SocketChannel open() throws IOException {
        return address instanceof UnixDomainSocketAddress
                ? SocketChannel.open(StandardProtocolFamily.UNIX)
                : SocketChannel.open();
    }

    /** Closes a channel when the time is over, unless the returned future is completed before. */
    private static CompletableFuture<Void> closeAfter(SocketChannel channel, Duration most) {
        var done = new CompletableFuture<Void>();
        CompletableFuture.delayedExecutor(most.toMillis(), TimeUnit.MILLISECONDS).execute(() -> {
            if (!done.isDone()) {
                try {
                    channel.close();
                } catch (IOException e) {
                    System.getLogger("lunar.admin").log(System.Logger.Level.DEBUG, "close", e);
                }
            }
        });
        return done;
    }
}
