package lunar.admin;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import javax.net.ssl.SSLContext;
import lunar.admin.http.Api;
import lunar.admin.http.Listener;
import lunar.admin.http.ListenerWatch;
import lunar.admin.http.SocketLock;
import lunar.admin.http.Token;
import lunar.admin.report.Administered;
import lunar.admin.tls.PrivateFile;
import lunar.admin.tls.ServerTls;
import lunar.tls.CertifiedKey;
import lunar.tls.TlsContext;

/**
 * Serves the admin API of a running server until it is closed. Does not own that server. Thread-safe.
 *
 * <p>A Unix socket has mode 0600, and connections of other users than that of this process, and root, are closed. Over
 * TCP, requests need the bearer token of a file that only its owner can read; only {@code /healthz}, {@code /readyz}
 * and the dashboard at {@code /}, a page without data, answer without. With {@link TlsFiles} TCP is TLS 1.3 only.
 */
public final class AdminServer implements AutoCloseable {
    private final List<ListenerWatch> listeners;
    private final Optional<SocketLock> lock;
    private final OptionalInt port;

    private AdminServer(List<ListenerWatch> listeners, Optional<SocketLock> lock,
            OptionalInt port) {
        this.listeners = listeners;
        this.lock = lock;
        this.port = port;
    }

    /**
     * Starts to listen. A socket that exists is replaced if the server that created it no longer runs; a lock on the
     * file {@code SOCKET.lock} excludes other servers until this one is closed.
     *
     * @throws IOException if it cannot listen, or the token or files of TLS cannot be used or could be read by others;
     *         the message is one line for the operator
     */
    public static AdminServer start(AdminOptions options, Administered subject)
            throws IOException {
        var listeners = new ArrayList<ListenerWatch>();
        Optional<SocketLock> lock = Optional.empty();
        OptionalInt port = OptionalInt.empty();
        Optional<ServerTls> tls = options.tls().isPresent()
                ? Optional.of(read(options.tls().get()))
                : Optional.empty();
        var api = new Api(tls.isPresent() ? new TlsSubject(subject, tls.get()) : subject);
        boolean done = false;
        try {
            if (options.socket().isPresent()) {
                Path socket = options.socket().get();
                lock = Optional.of(SocketLock.acquire(socket));
                listeners.add(ListenerWatch.of(onSocket(socket, api), () -> onSocket(socket, api),
                        ListenerWatch.PERIOD));
            }
            if (options.listen().isPresent()) {
                InetSocketAddress address = options.listen().get();
                Token token = token(options, address);
                Listener tcp = Listener.start(address, api, Optional.of(token), tls);
                port = OptionalInt.of(tcp.port());
                var same = new InetSocketAddress(address.getAddress(), tcp.port());
                listeners.add(ListenerWatch.of(tcp,
                        () -> Listener.start(same, api, Optional.of(token), tls),
                        ListenerWatch.PERIOD));
            }
            done = true;
        } finally {
            if (!done) {
                listeners.forEach(ListenerWatch::close);
                lock.ifPresent(SocketLock::close);
            }
        }
        return new AdminServer(List.copyOf(listeners), lock, port);
    }

    /**
     * Checks that a file holds a token, and that others cannot access it.
     *
     * @throws IOException if not; the message is one line for the operator
     */
    public static void checkToken(Path file) throws IOException { Token _ = Token.read(file); }

    /**
     * Checks that files can be used for TLS.
     *
     * @return what is wrong with the certificate now, such as that it has expired, in one line; empty if nothing is
     * @throws IOException if they cannot be used; the message is one line for the operator
     */
    public static Optional<String> checkTls(TlsFiles files) throws IOException {
        CertifiedKey own = PrivateFile.certifiedKey(files.certificate(), files.key());
        SSLContext _ = TlsContext.create(own.managers(), files.clientCa());
        return own.problem(Instant.now(), Duration.ZERO);
    }

    private static ServerTls read(TlsFiles files) throws IOException {
        return ServerTls.read(files.certificate(), files.key(), files.clientCa(),
                ServerTls.CHECK_PERIOD);
    }

    /** Whether a process listens on a Unix socket. */
    public static boolean isAlive(Path socket) {
        return SocketLock.isAlive(socket);
    }

    /**
     * Removes a socket and its lock file if the server that created them no longer runs.
     *
     * @throws IOException if a server uses it, or it is not a socket; then nothing is removed
     */
    public static void removeStale(Path socket) throws IOException {
        SocketLock.acquire(socket).close();
    }

    private static Listener onSocket(Path socket, Api api) throws IOException {
        Listener listener = Listener.start(UnixDomainSocketAddress.of(socket), api,
                Optional.empty(), Optional.empty());
        boolean done = false;
        try {
            Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-------"));
            done = true;
        } finally {
            if (!done) {
                listener.close();
            }
        }
        return listener;
    }

    /** Checks an address of TCP, and reads the token that it needs. */
    private static Token token(AdminOptions options, InetSocketAddress address)
            throws IOException {
        if (address.isUnresolved()) {
            throw new IOException("unknown host '" + address.getHostString()
                    + "' of the admin API; check the name");
        }
        if (!address.getAddress().isLoopbackAddress() && !options.allowRemote()) {
            throw new IOException("other machines can reach the admin API at "
                    + address.getHostString()
                    + (options.tls().isPresent() ? "" : ", and its token is not encrypted")
                    + ": listen on a loopback address, or set 'allow-remote = true' in [admin]");
        }
        Path file = options.tokenFile().orElseThrow(() -> new IOException(
                "the admin API needs a 'token-file' to listen on TCP: name a file with a secret"
                        + " of at least " + Token.MIN_LENGTH + " characters"));
        return Token.read(file);
    }

    /** Returns the port of TCP where it listens; empty if it does not. */
    public OptionalInt port() {
        return port;
    }

    /** Stops listening, and removes the socket. Requests have a moment to end. */
    @Override
    public void close() {
        listeners.forEach(ListenerWatch::close);
        lock.ifPresent(SocketLock::close);
    }
}
