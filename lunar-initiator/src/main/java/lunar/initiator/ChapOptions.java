package lunar.initiator;

import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import lunar.iscsi.ChapAlgorithm;
import lunar.iscsi.ChapCredentials;
import lunar.iscsi.InitiatorLogin;
import lunar.iscsi.Secret;

/**
 * CHAP at the initiator (RFC 7143 section 12.1.3): who we are, who the target must be, and which hash functions may be
 * used. A list without MD5 and SHA-1 is what FIPS 140 asks for:
 *
 * {@snippet :
 * options.withChap(ChapOptions.of(vault).withAlgorithms(List.of(ChapAlgorithm.SHA3_256, ChapAlgorithm.SHA256)));
 * }
 *
 * <p>An algorithm that this Java is without is not offered; a login fails, and says so, where none is left.
 *
 * @param own how we prove ourselves
 * @param target how the target must prove itself (mutual CHAP); empty if it need not
 * @param algorithms what is offered, the preferred one first; the target takes the first that it accepts
 */
public record ChapOptions(ChapSource own, Optional<ChapSource> target,
        List<ChapAlgorithm> algorithms) {
    private static final String SAME_SECRET = "mutual CHAP with one secret for both ends, which RFC"
            + " 7143 section 12.1.3 forbids";

    public ChapOptions {
        algorithms = List.copyOf(algorithms);
        if (algorithms.isEmpty() || algorithms.stream().distinct().count() < algorithms.size()) {
            throw new IllegalArgumentException(
                    "CHAP takes one algorithm or more, each once, not " + algorithms);
        }
        if (own instanceof FixedCredentials ours && target.isPresent()
                && target.get() instanceof FixedCredentials theirs
                && ours.credentials().secret().equals(theirs.credentials().secret())) {
            throw new IllegalArgumentException(SAME_SECRET);
        }
    }

    /** {@link ChapAlgorithm#DEFAULT_ORDER}, and a target that need not prove itself. */
    public static ChapOptions of(ChapSource own) {
        return new ChapOptions(own, Optional.empty(), ChapAlgorithm.DEFAULT_ORDER);
    }

    /** The same with credentials that do not change. */
    public static ChapOptions of(ChapCredentials own) {
        return of(ChapSource.fixed(own));
    }

    /** The same, where we prove ourselves in another way. */
    public ChapOptions withOwn(ChapSource source) {
        return new ChapOptions(source, target, algorithms);
    }

    /** The same, where the target must prove itself too. */
    public ChapOptions withTarget(ChapSource source) {
        return new ChapOptions(own, Optional.of(source), algorithms);
    }

    /** The same with credentials of the target that do not change. */
    public ChapOptions withTarget(ChapCredentials credentials) {
        return withTarget(ChapSource.fixed(credentials));
    }

    /** The same with other algorithms, the preferred one first. */
    public ChapOptions withAlgorithms(List<ChapAlgorithm> offered) {
        return new ChapOptions(own, target, offered);
    }

    /** Asks for the credentials of one login. */
    InitiatorLogin.Settings authenticate(InitiatorLogin.Settings bare) throws IOException {
        String name = bare.targetName().orElse("");
        InitiatorLogin.Settings settings = bare.withAlgorithms(algorithms);
        ChapCredentials ours = ask(own, name, "our CHAP credentials");
        if (target.isEmpty()) {
            return settings.withChap(ours);
        }
        ChapCredentials theirs = ask(target.get(), name, "the target's CHAP credentials");
        if (theirs.secret().equals(ours.secret())) {
            throw new IOException(where(name) + ": " + SAME_SECRET);
        }
        return settings.withMutualChap(ours, theirs);
    }

    /**
     * Refuses a login in whose sight others could guess a secret: a short one is for the loopback (RFC 7143 section
     * 9.2.1).
     */
    static void requireLongSecrets(InitiatorLogin.Settings settings, InetAddress at, String what)
            throws IOException {
        boolean tooShort = settings.credentials().map(own -> own.secret().isShort()).orElse(false)
                || settings.targetCredentials().map(theirs -> theirs.secret().isShort())
                        .orElse(false);
        if (tooShort && !at.isLoopbackAddress()) {
            throw new IOException(what + ": a CHAP secret of less than " + Secret.REQUIRED_BYTES
                    + " bytes can be guessed by who listens (RFC 7143 section 9.2.1); give both"
                    + " ends a longer one");
        }
    }

    private static ChapCredentials ask(ChapSource source, String name, String what)
            throws IOException {
        try {
            ChapCredentials given = source.credentials(name);
            if (given != null) {
                return given;
            }
        } catch (IOException | RuntimeException e) {
            throw new IOException(where(name) + ": cannot get " + what + ": " + e.getMessage(), e);
        }
        throw new IOException(where(name) + ": there are none of " + what);
    }

    private static String where(String targetName) {
        return targetName.isEmpty() ? "discovery" : "login to " + targetName;
    }
}
