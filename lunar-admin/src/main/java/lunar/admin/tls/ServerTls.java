package lunar.admin.tls;

import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import lunar.tls.CertifiedKey;
import lunar.tls.TlsContext;
import org.jspecify.annotations.Nullable;

/**
 * The server's end of TLS: does handshakes, with certificates and a key from files. Handshakes and {@link #problems}
 * look whether the files have changed, and read them again if so; files that cannot be used leave the previous
 * certificate in place. Thread-safe; handshakes block.
 */
public final class ServerTls {
    /** Time between two looks at the files. */
    public static final Duration CHECK_PERIOD = Duration.ofSeconds(5);

    private static final System.Logger LOG = System.getLogger("lunar.admin");
    /** Time for which a client may resume a session, without its certificate being checked again. */
    private static final int SESSION_SECONDS = 300;
    /** How long before its end a certificate is a problem: not at all. */
    private static final Duration NOTICE = Duration.ZERO;

    private final Path certificate;
    private final Path key;
    private final Optional<Path> clientCa;
    private final long checkNanos;
    private Loaded loaded;
    /** Of the files that are loaded. */
    private List<Stamp> stamps;
    private long checkedNanos;
    /** Why changed files cannot be used; empty if they are. */
    private String failure = "";

    private record Loaded(SSLContext context, CertifiedKey key) {}

    /** What changes when a file is replaced or written. */
    private record Stamp(FileTime modified, long bytes, @Nullable Object inode) {
        private static final Stamp NONE = new Stamp(FileTime.fromMillis(0), 0, null);

        static Stamp of(Path file) {
            try {
                var attributes = Files.readAttributes(file, BasicFileAttributes.class);
                return new Stamp(attributes.lastModifiedTime(), attributes.size(),
                        attributes.fileKey());
            } catch (IOException _) {
                return NONE;
            }
        }
    }

    private ServerTls(Path certificate, Path key, Optional<Path> clientCa, Duration period)
            throws IOException {
        this.certificate = certificate;
        this.key = key;
        this.clientCa = clientCa;
        checkNanos = period.toNanos();
        stamps = stamps();
        loaded = load();
        checkedNanos = System.nanoTime();
        loaded.key.problem(Instant.now(), NOTICE)
                .ifPresent(problem -> LOG.log(System.Logger.Level.WARNING, problem));
    }

    /**
     * Reads the files, and logs a warning if the certificate has expired or is not yet valid.
     *
     * @param certificate file of the certificate chain, in PEM
     * @param key file of its private key, in PEM and PKCS#8, which only its owner can access
     * @param clientCa file of the CAs, in PEM, of which clients need a certificate; empty if they need none
     * @param period time between two looks at the files
     * @throws IOException if these cannot be used; one line for the operator
     */
    public static ServerTls read(Path certificate, Path key, Optional<Path> clientCa,
            Duration period) throws IOException {
        return new ServerTls(certificate, key, clientCa, period);
    }

    private Loaded load() throws IOException {
        CertifiedKey own = PrivateFile.certifiedKey(certificate, key);
        SSLContext context = TlsContext.create(own.managers(), clientCa);
        context.getServerSessionContext().setSessionTimeout(SESSION_SECONDS);
        return new Loaded(context, own);
    }

    private List<Stamp> stamps() {
        return Stream.concat(Stream.of(certificate, key), clientCa.stream()).map(Stamp::of)
                .toList();
    }

    /** Returns what is loaded, after a look at the files if that is due. */
    private synchronized Loaded current() {
        long now = System.nanoTime();
        if (now - checkedNanos >= checkNanos) {
            checkedNanos = now;
            List<Stamp> found = stamps(); // first: what changes while they are read is seen the next time
            if (!found.equals(stamps) || !failure.isEmpty()) {
                reload(found);
            }
        }
        return loaded;
    }

    /** Reads the files again. Logs a failure once, not at each look. */
    private void reload(List<Stamp> found) {
        try {
            loaded = load();
            stamps = found;
            failure = "";
            LOG.log(System.Logger.Level.INFO,
                    "the admin API uses the changed certificate in {0}, which expires on {1}",
                    certificate, loaded.key.end());
        } catch (IOException | RuntimeException e) { // of a certificate that the JDK cannot parse, too
            String why = String.valueOf(e.getMessage());
            if (!why.equals(failure)) {
                LOG.log(System.Logger.Level.WARNING,
                        "{0}; the admin API keeps its previous certificate", why);
            }
            failure = why;
        }
    }

    /** Returns what an operator should know of the certificate, one line each; none if all is well. */
    public List<String> problems() {
        var problems = new ArrayList<String>();
        current().key.problem(Instant.now(), NOTICE).ifPresent(problems::add);
        String why = failure();
        if (!why.isEmpty()) {
            problems.add("the admin API keeps its previous certificate: " + why);
        }
        return problems;
    }

    private synchronized String failure() { return failure; }

    /** Returns a context for the web server, whose sockets come from {@link #accept}. */
    public SSLContext context() {
        return new AcceptingContext(() -> current().context, this::accept);
    }

    /**
     * Does the handshake of a connection, and logs why it fails. The caller limits the time by closing the connection.
     * The web server, which logs no failure, starts a handshake again afterwards: in TLS 1.3 that renews the keys once.
     *
     * @throws IOException if the handshake fails; the connection is closed then
     */
    SSLSocket accept(Socket connection) throws IOException {
        String peer = connection.getInetAddress().getHostAddress();
        SSLSocket socket = (SSLSocket) current().context.getSocketFactory()
                .createSocket(connection, null, true);
        boolean done = false;
        try {
            SSLParameters parameters = socket.getSSLParameters();
            parameters.setProtocols(new String[]{TlsContext.PROTOCOL});
            parameters.setNeedClientAuth(clientCa.isPresent());
            socket.setSSLParameters(parameters);
            socket.startHandshake();
            done = true;
            return socket;
        } catch (IOException e) {
            log(peer, e);
            throw e;
        } finally {
            if (!done) {
                socket.close();
            }
        }
    }

    /** Peers that just close the connection, as those that only look whether the port is open, are not worth a line. */
    private static void log(String peer, IOException e) {
        boolean isClosed = false;
        String why = ""; // the innermost
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            why = String.valueOf(cause.getMessage());
            isClosed |= cause instanceof EOFException || cause instanceof SocketException
                    || cause instanceof ClosedChannelException;
        }
        LOG.log(isClosed ? System.Logger.Level.DEBUG : System.Logger.Level.WARNING,
                "the admin API closed a connection from {0}: {1}", peer,
                isNotTls(e)
                        ? "its client does not use TLS (https)"
                        : "the TLS handshake failed: " + why);
    }

    /** Whether a peer has sent something else than TLS. The JDK has no type for that. */
    public static boolean isNotTls(IOException e) {
        return e instanceof SSLException
                && String.valueOf(e.getMessage()).startsWith("Unsupported or unrecognized SSL");
    }
}
