package lunar.initiator;

import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import lunar.iscsi.login.ChapAlgorithm;
import lunar.iscsi.login.ChapCredentials;
import lunar.iscsi.login.InitiatorLogin;
import lunar.iscsi.login.Secret;

/**
 * CHAP options of the initiator (RFC 7143 section 12.1.3): its own credentials, those required of the target, and the
 * hash functions that may be used. FIPS 140 requires a list without MD5 and SHA-1:
 *
 * {@snippet :
 * options.withChap(ChapOptions.of(vault).withAlgorithms(List.of(ChapAlgorithm.SHA3_256, ChapAlgorithm.SHA256)));
 * }
 *
 * <p>An algorithm that this Java runtime does not provide is not offered; a login fails with a message if none is left.
 *
 * @param own source of the initiator's credentials
 * @param target source of the credentials required of the target (mutual CHAP); empty for none
 * @param algorithms algorithms to offer, the preferred one first; the target takes the first that it accepts
 */
public record ChapOptions(ChapSource own, Optional<ChapSource> target,
        List<ChapAlgorithm> algorithms) {
    private static final String SAME_SECRET = "mutual CHAP with the same secret at both ends, which RFC"
            + " 7143 section 12.1.3 forbids";

    public ChapOptions {
        algorithms = List.copyOf(algorithms);
        if (algorithms.isEmpty() || algorithms.stream().distinct().count() < algorithms.size()) {
            throw new IllegalArgumentException(
                    "CHAP needs at least one algorithm, each only once, not " + algorithms);
        }
        if (own instanceof FixedCredentials ours && target.isPresent()
                && target.get() instanceof FixedCredentials theirs
                && ours.credentials().secret().equals(theirs.credentials().secret())) {
            throw new IllegalArgumentException(SAME_SECRET);
        }
    }

    /** Returns options with {@link ChapAlgorithm#DEFAULT_ORDER}, and a target that need not prove itself. */
    public static ChapOptions of(ChapSource own) {
        return new ChapOptions(own, Optional.empty(), ChapAlgorithm.DEFAULT_ORDER);
    }

    /** Like {@link #of(ChapSource)}, but with fixed credentials. */
    public static ChapOptions of(ChapCredentials own) {
        return of(ChapSource.fixed(own));
    }

    /** Returns these options with another source of the initiator's credentials. */
    public ChapOptions withOwn(ChapSource source) {
        return new ChapOptions(source, target, algorithms);
    }

    /** Returns these options with a target that must prove itself too. */
    public ChapOptions withTarget(ChapSource source) {
        return new ChapOptions(own, Optional.of(source), algorithms);
    }

    /** Like {@link #withTarget(ChapSource)}, but with fixed credentials. */
    public ChapOptions withTarget(ChapCredentials credentials) {
        return withTarget(ChapSource.fixed(credentials));
    }

    /** Returns these options with other algorithms, the preferred one first. */
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
     * Refuses a login in which an eavesdropper could guess a secret: a short one is allowed over loopback only
     * (RFC 7143 section 9.2.1).
     */
    static void requireLongSecrets(InitiatorLogin.Settings settings, InetAddress at, String what)
            throws IOException {
        boolean tooShort = settings.credentials().map(own -> own.secret().isShort()).orElse(false)
                || settings.targetCredentials().map(theirs -> theirs.secret().isShort())
                        .orElse(false);
        if (tooShort && !at.isLoopbackAddress()) {
            throw new IOException(what + ": a CHAP secret of less than " + Secret.REQUIRED_BYTES
                    + " bytes can be guessed by an eavesdropper (RFC 7143 section 9.2.1); give both"
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
        throw new IOException(where(name) + ": the source of " + what + " returned none");
    }

    private static String where(String targetName) {
        return targetName.isEmpty() ? "discovery" : "login to " + targetName;
    }
}
