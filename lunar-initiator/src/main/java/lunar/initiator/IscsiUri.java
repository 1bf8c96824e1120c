package lunar.initiator;

import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lunar.block.DeviceUri;
import lunar.iscsi.login.ChapAlgorithm;
import lunar.iscsi.login.ChapCredentials;
import lunar.iscsi.login.DigestChoice;
import lunar.iscsi.login.Offer;
import lunar.iscsi.login.Secret;
import lunar.iscsi.spi.Polling;
import lunar.iscsi.spi.TlsFiles;
import lunar.iscsi.spi.Transports;
import lunar.iscsi.text.TargetAddress;
import lunar.scsi.Lun;
import org.jspecify.annotations.Nullable;

/**
 * URI of a target or of one of its LUNs:
 *
 * <pre>
 * iscsi://[user[%secret]@]host[:port]/target-name[/lun][?option=value&amp;option=value]
 * </pre>
 *
 * <p>{@code iscsis} instead of {@code iscsi} is TCP with TLS, {@code iser} is RDMA.
 *
 * <p>The first percent sign separates user and secret, as in libiscsi; after it, percent and two hexadecimal digits
 * encode a byte. An IPv6 address is written in brackets. A secret in a file is safer than one on a command line.
 *
 * <pre>
 * header-digest, data-digest    crc32c or none
 * secret-file                   file with the user's secret, read at each login
 * mutual-user                   CHAP user by which the target must authenticate itself,
 * mutual-secret-file            and the file with its secret, read at each login
 * chap-algorithms               algorithms to offer, preferred first: sha3-256, sha-256, sha-1, md5
 * initiator                     name of the initiator, if the URI is opened as a device
 * queue-depth                   maximum number of commands at the target
 * sessions                      1 to 32, distributed over the discovered portals
 * policy                        choice of the session of a request: least-queue, round-robin, service-time, fixed
 * no-path-retry                 how long requests wait without a session: queue, fail, or seconds
 * write-cache                   stable: the target keeps acknowledged writes across power failures; auto: as reported
 * connections                   1 to 32 per session, as far as the target allows
 * error-recovery-level          0, 1 or 2: what the initiator offers (RFC 7143 section 7.1.5)
 * connect-timeout               for the connection to a portal: 500ms, 5s; at most login-timeout unless given
 * login-timeout                 for the login over that connection, again after each redirection: 10s
 * keep-alive                    silence after which the target is pinged, and after as long again given up: 500ms, 10s
 * command-timeout               timeout of a command, including queueing and retries: 30s
 * abort-timeout                 for the abort of a command past its timeout; then the session is dropped: 5s
 * logout-timeout                for the logout when the device or session is closed: 5s
 * poll                          how long the event loop polls before it sleeps: auto, off, or a time such as 50us
 * rdma-provider                 of iser: the RDMA device, or the first parts of its name, such as libfabric:shm
 * tls-ca                        of iscsis: PEM file with the certificates to trust; default: those of the JDK
 * tls-certificate, tls-key      of iscsis: PEM files with the initiator's certificate and its key, for mutual TLS
 * </pre>
 *
 * @param lun the LUN, if the URI has one
 * @param initiatorName the option {@code initiator}
 * @param polling the option {@code poll}
 * @param rdmaProvider the option {@code rdma-provider}
 * @param sessionOptions options of the login
 * @param paths number of sessions and how they share requests
 */
public record IscsiUri(Optional<Lun> lun, Optional<String> initiatorName, Polling polling,
        Optional<String> rdmaProvider, SessionOptions sessionOptions, Paths paths) {
    /**
     * Options for several sessions in parallel.
     *
     * @param sessions number of sessions
     * @param policy name of a policy, if one is given
     * @param noPathMs how long requests wait without a session, if given; {@link Long#MAX_VALUE} for no limit
     * @param stableCache whether the target keeps acknowledged writes over resets and power failures
     */
    public record Paths(int sessions, Optional<String> policy, OptionalLong noPathMs,
            boolean stableCache) {}

    private static final Set<String> POLICIES = new TreeSet<>(
            Set.of("fixed", "least-queue", "round-robin", "service-time"));
    private static final int MAX_SESSIONS = 32;
    private static final int MAX_CONNECTIONS = 32;
    private static final String EXAMPLE = "iscsi://host/iqn.2026-11.org.example:disk/0";
    private static final Set<String> OPTIONS = Set.of("header-digest", "data-digest", "sessions",
            "connections", "initiator", "mutual-user", "mutual-secret-file", "secret-file",
            "chap-algorithms", "queue-depth", "policy", "no-path-retry", "error-recovery-level",
            "keep-alive", "connect-timeout", "login-timeout", "command-timeout", "abort-timeout",
            "logout-timeout", "write-cache", "poll", "rdma-provider", "tls-ca", "tls-certificate",
            "tls-key");
    private static final Set<String> SCHEMES = Set.of(Transports.ISCSI, Transports.ISCSIS,
            Transports.ISER);

    /** Authority, target name, LUN. */
    private static final Pattern REST = Pattern.compile("//([^/]*)/([^/]*)(?:/([^/]*))?");
    private static final Pattern AUTHORITY = Pattern
            .compile("(?:([^%]+)(?:%(.*))?@)?(\\[[0-9a-fA-F:.%]+]|[^@:\\[\\]]+)(?::([0-9]{1,5}))?",
                    Pattern.DOTALL);
    private static final Pattern TARGET_NAME = Pattern.compile("(iqn|eui|naa)\\.[^\\s]{1,219}");
    private static final Pattern TIME = Pattern.compile("([1-9][0-9]{0,5})(ms|s)");
    private static final Pattern NOT_ENCODED = Pattern.compile("%(?![0-9a-fA-F]{2})");

    /**
     * Parses a URI.
     *
     * @throws IllegalArgumentException with a message of one line for the user, without secrets
     */
    public static IscsiUri parse(String text) {
        if (!text.contains(":")) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not the URI of a target; write for example " + EXAMPLE);
        }
        return of(DeviceUri.parse(text));
    }

    /**
     * Parses a device URI.
     *
     * @throws IllegalArgumentException with a message of one line for the user, without secrets
     */
    public static IscsiUri of(DeviceUri uri) {
        if (!SCHEMES.contains(uri.scheme())) {
            throw wrong(uri, "has another scheme than iscsi:, iscsis: or iser:");
        }
        uri.requireKnownOptions(OPTIONS);
        Matcher rest = REST.matcher(uri.rest());
        if (!rest.matches()) {
            throw wrong(uri, "is not of the form host/target-name/lun");
        }
        Matcher authority = AUTHORITY.matcher(rest.group(1));
        if (!authority.matches()) {
            throw wrong(uri, "has no valid host");
        }
        String target = decoded(rest.group(2));
        if (!TARGET_NAME.matcher(target).matches()) {
            throw wrong(uri, "has no target name after the host");
        }
        SessionOptions options = SessionOptions
                .of(host(authority.group(3)), port(uri, authority.group(4)), target)
                .withOffer(Offer.DEFAULT
                        .withHeaderDigest(digest(uri, "header-digest"))
                        .withDataDigest(digest(uri, "data-digest"))
                        .withErrorRecoveryLevel(errorRecoveryLevel(uri)));
        options = new SessionOptions(uri.scheme(), options.portal(), target, options.offer(),
                chap(uri, authority.group(1), authority.group(2)), timeouts(uri),
                number(uri, "queue-depth", SessionOptions.DEFAULT_QUEUE_DEPTH),
                connections(uri), List.of(), tls(uri));
        return new IscsiUri(Optional.ofNullable(rest.group(3)).map(lun -> lun(uri, lun)),
                uri.option("initiator"), polling(uri), rdmaProvider(uri), options,
                paths(uri));
    }

    private static Polling polling(DeviceUri uri) {
        try {
            return Polling.parse(uri.option("poll", "off"));
        } catch (IllegalArgumentException e) {
            throw wrong(uri, "has a wrong value of poll: " + e.getMessage());
        }
    }

    private static Optional<String> rdmaProvider(DeviceUri uri) {
        Optional<String> name = uri.option("rdma-provider");
        if (name.isPresent() && !uri.scheme().equals("iser")) {
            throw wrong(uri, "has an rdma-provider, which is for iser:");
        }
        return name;
    }

    private static TlsFiles tls(DeviceUri uri) {
        Optional<Path> authorities = tlsFile(uri, "tls-ca");
        Optional<Path> certificate = tlsFile(uri, "tls-certificate");
        Optional<Path> key = tlsFile(uri, "tls-key");
        if (certificate.isPresent() != key.isPresent()) {
            throw wrong(uri, "needs both tls-certificate and tls-key for mutual TLS");
        }
        return new TlsFiles(authorities, certificate, key);
    }

    private static Optional<Path> tlsFile(DeviceUri uri, String option) {
        Optional<String> name = uri.option(option);
        if (name.isPresent() && !uri.scheme().equals(Transports.ISCSIS)) {
            throw wrong(uri, "has a " + option + ", which is for iscsis:");
        }
        try {
            return name.map(Path::of);
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException(
                    "'" + name.get() + "' in " + option + " is not a valid file name", e);
        }
    }

    private static Paths paths(DeviceUri uri) {
        int sessions = number(uri, "sessions", 1);
        if (sessions > MAX_SESSIONS) {
            throw wrong(uri,
                    "asks for " + sessions + " sessions; the maximum is " + MAX_SESSIONS);
        }
        Optional<String> policy = uri.option("policy");
        if (policy.isPresent() && !POLICIES.contains(policy.get())) {
            throw wrong(uri, "has policy '" + policy.get() + "', which is not one of " + POLICIES);
        }
        return new Paths(sessions, policy, switch (uri.option("no-path-retry", "")) {
            case "" -> OptionalLong.empty();
            case "fail" -> OptionalLong.of(0);
            case "queue" -> OptionalLong.of(Long.MAX_VALUE);
            default -> OptionalLong.of(1000L * number(uri, "no-path-retry", 0));
        }, switch (uri.option("write-cache", "auto")) {
            case "auto" -> false;
            case "stable" -> true;
            default -> throw wrong(uri, "has a write-cache that is neither auto nor stable");
        });
    }

    private static int connections(DeviceUri uri) {
        int connections = number(uri, "connections", 1);
        if (connections > MAX_CONNECTIONS) {
            throw wrong(uri,
                    "asks for " + connections + " connections; the maximum is " + MAX_CONNECTIONS);
        }
        return connections;
    }

    private static Timeouts timeouts(DeviceUri uri) {
        Timeouts timeouts = Timeouts.DEFAULT;
        int loginMs = milliseconds(uri, "login-timeout", timeouts.loginMs());
        int connectMs = Math.min(timeouts.connectMs(), loginMs); // a short login is meant to include the connection
        return new Timeouts(milliseconds(uri, "connect-timeout", connectMs), loginMs,
                milliseconds(uri, "command-timeout", timeouts.commandMs()),
                milliseconds(uri, "abort-timeout", timeouts.abortMs()),
                milliseconds(uri, "logout-timeout", timeouts.logoutMs()),
                milliseconds(uri, "keep-alive", timeouts.keepAliveMs()));
    }

    private static int milliseconds(DeviceUri uri, String option, int otherwise) {
        Optional<String> written = uri.option(option);
        if (written.isEmpty()) {
            return otherwise;
        }
        Matcher matcher = TIME.matcher(written.get());
        if (!matcher.matches()) {
            throw wrong(uri, "has '" + written.get() + "' as " + option
                    + ", which must be a time of 1ms to 999999s, such as 500ms or 10s");
        }
        int number = Integer.parseInt(matcher.group(1));
        return matcher.group(2).equals("s") ? 1_000 * number : number;
    }

    private static int errorRecoveryLevel(DeviceUri uri) {
        return switch (uri.option("error-recovery-level", "0")) {
            case "0" -> 0;
            case "1" -> 1;
            case "2" -> 2;
            default -> throw wrong(uri, "has an error-recovery-level that is not 0, 1 or 2");
        };
    }

    private static String host(String written) {
        return written.startsWith("[") ? written.substring(1, written.length() - 1) : written;
    }

    private static int port(DeviceUri uri, @Nullable String written) {
        int port = written == null ? TargetAddress.DEFAULT_PORT : Integer.parseInt(written);
        if (port < 1 || port > 0xffff) {
            throw wrong(uri, "has port " + port + ", which is not 1 to 65535");
        }
        return port;
    }

    private static Lun lun(DeviceUri uri, String written) {
        try {
            return Lun.of(Integer.parseInt(written));
        } catch (IllegalArgumentException _) { // among them, what is not a number
            throw wrong(uri, "has '" + written + "' as the LUN, which must be a number");
        }
    }

    private static Optional<ChapOptions> chap(DeviceUri uri, @Nullable String user,
            @Nullable String secret) {
        Optional<ChapSource> own = own(uri, user, secret);
        Optional<ChapSource> target = target(uri);
        Optional<String> algorithms = uri.option("chap-algorithms");
        if (own.isEmpty()) {
            if (target.isPresent() || algorithms.isPresent()) {
                throw wrong(uri, "asks for " + (target.isPresent() ? "mutual CHAP" : "CHAP")
                        + " without a user and secret of its own");
            }
            return Optional.empty();
        }
        if (target.isPresent() && once(target.get()).secret().equals(once(own.get()).secret())) {
            throw wrong(uri, "has the same secret in both directions, which mutual CHAP forbids");
        }
        try {
            return Optional.of(new ChapOptions(own.get(), target, algorithms
                    .map(ChapAlgorithm::parse).orElse(ChapAlgorithm.DEFAULT_ORDER)));
        } catch (IllegalArgumentException e) {
            throw wrong(uri, "has invalid chap-algorithms: " + e.getMessage());
        }
    }

    private static Optional<ChapSource> own(DeviceUri uri, @Nullable String user,
            @Nullable String secret) {
        Optional<String> file = uri.option("secret-file");
        if (user == null) {
            if (file.isPresent()) {
                throw wrong(uri, "has a secret-file but no user; write user@host");
            }
            return Optional.empty();
        }
        if (secret == null == file.isEmpty()) {
            throw wrong(uri, "needs one secret for user " + user
                    + ": as user%secret@host or by the option secret-file");
        }
        return Optional.of(secret == null
                ? file(user, file.get())
                : ChapSource.fixed(new ChapCredentials(user, secretOf(uri, decoded(secret)))));
    }

    private static Optional<ChapSource> target(DeviceUri uri) {
        Optional<String> user = uri.option("mutual-user");
        Optional<String> file = uri.option("mutual-secret-file");
        if (user.isEmpty() && file.isEmpty()) {
            return Optional.empty();
        }
        if (user.isEmpty() || user.get().isEmpty() || file.isEmpty()) {
            throw wrong(uri, "needs both mutual-user and mutual-secret-file for mutual CHAP");
        }
        return Optional.of(file(user.get(), file.get()));
    }

    private static Secret secretOf(DeviceUri uri, String text) {
        if (text.isEmpty()) {
            throw wrong(uri, "has an empty secret");
        }
        return Secret.of(text);
    }

    private static ChapSource file(String user, String file) {
        try {
            ChapSource source = ChapSource.file(user, Path.of(file));
            var _ = once(source); // reports a bad file before anything is tried
            return source;
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException("cannot read secret file " + file, e);
        }
    }

    private static ChapCredentials once(ChapSource source) {
        try {
            return source.credentials("");
        } catch (IOException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    private static DigestChoice digest(DeviceUri uri, String option) {
        return switch (uri.option(option, "").toLowerCase(Locale.ROOT)) {
            case "" -> DigestChoice.PREFER_NONE;
            case "none" -> DigestChoice.NONE;
            case "crc32c" -> DigestChoice.REQUIRE_CRC32C;
            default -> throw wrong(uri, "has a " + option + " which is neither crc32c nor none");
        };
    }

    private static int number(DeviceUri uri, String option, int otherwise) {
        Optional<String> written = uri.option(option);
        if (written.isEmpty()) {
            return otherwise;
        }
        if (!written.get().matches("[1-9][0-9]{0,8}")) {
            throw wrong(uri,
                    "has '" + written.get() + "' as " + option + ", which must be a number");
        }
        return Integer.parseInt(written.get());
    }

    /** Decodes percent and two hexadecimal digits as a byte; any other percent stands for itself. */
    private static String decoded(String text) {
        String guarded = NOT_ENCODED.matcher(text).replaceAll("%25").replace("+", "%2B");
        return URLDecoder.decode(guarded, StandardCharsets.UTF_8);
    }

    private static IllegalArgumentException wrong(DeviceUri uri, String what) {
        return new IllegalArgumentException(uri + " " + what + "; write for example " + EXAMPLE);
    }
}
