package lunar.tls;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.KeyStoreException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.SignatureException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;

/** A certificate chain with its private key, which proves who a peer of TLS is. Immutable, thread-safe. */
public final class CertifiedKey {
    private static final String TITLE = "the certificate file";
    private static final int CHALLENGE_BYTES = 32;

    private final Path file;
    private final X509Certificate certificate;
    private final KeyManager[] managers;

    private CertifiedKey(Path file, X509Certificate certificate, KeyManager[] managers) {
        this.file = file;
        this.certificate = certificate;
        this.managers = managers;
    }

    /**
     * Reads a certificate chain and its key. The caller decides who may access the files.
     *
     * @param certificate file of the chain, in PEM: the certificate, then that of its issuer, and so on
     * @param key file of the key, in PEM and PKCS#8: RSA, EC, Ed25519 or Ed448, not encrypted
     * @throws IOException if these cannot be used; one line for the operator
     */
    public static CertifiedKey read(Path certificate, Path key) throws IOException {
        List<X509Certificate> chain = new PemFile(TITLE, certificate).certificates();
        PrivateKey secret = new PemFile("the key file", key).privateKey();
        try {
            if (!isPair(secret, chain.getFirst().getPublicKey())) {
                throw new IOException("the key file " + key + " does not have the key of the first"
                        + " certificate of " + certificate);
            }
            KeyStore store = TlsContext.emptyStore();
            char[] password = {}; // of a store in memory alone
            store.setKeyEntry("own", secret, password, chain.toArray(X509Certificate[]::new));
            KeyManagerFactory factory = KeyManagerFactory.getInstance("PKIX");
            factory.init(store, password);
            return new CertifiedKey(certificate, chain.getFirst(), factory.getKeyManagers());
        } catch (KeyStoreException e) {
            throw new IOException(TITLE + " " + certificate + " must contain its own certificate"
                    + " first, then the certificate of its issuer, and so on", e);
        } catch (GeneralSecurityException e) {
            throw new IOException("cannot use " + TITLE + " " + certificate + " with its key: "
                    + e.getMessage(), e);
        }
    }

    /** Whether a signature of the private key is valid for the public one. */
    private static boolean isPair(PrivateKey secret, PublicKey known)
            throws GeneralSecurityException {
        if (!secret.getAlgorithm().equals(known.getAlgorithm())) {
            return false;
        }
        String algorithm = switch (secret.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            default -> secret.getAlgorithm();
        };
        var challenge = new byte[CHALLENGE_BYTES];
        new SecureRandom().nextBytes(challenge);
        Signature signing = Signature.getInstance(algorithm);
        signing.initSign(secret);
        signing.update(challenge);
        Signature verifying = Signature.getInstance(algorithm);
        verifying.initVerify(known);
        verifying.update(challenge);
        try {
            return verifying.verify(signing.sign());
        } catch (SignatureException _) { // of keys of different sizes or curves
            return false;
        }
    }

    /** Returns the first certificate of the chain. */
    public X509Certificate certificate() {
        return certificate;
    }

    /** Returns the managers of the key, for a context. */
    public KeyManager[] managers() {
        return managers.clone();
    }

    /** Returns when the certificate expires. */
    public Instant end() {
        return certificate.getNotAfter().toInstant();
    }

    /**
     * Returns what is wrong with the validity of the certificate, in one line for the operator; empty if nothing is.
     *
     * @param notice how long before its end a certificate is worth a line
     */
    public Optional<String> problem(Instant now, Duration notice) {
        Instant begin = certificate.getNotBefore().toInstant();
        String what = "the certificate in " + file;
        if (now.isBefore(begin)) {
            return Optional.of(what + " is not valid before " + begin + ": check the clock");
        }
        if (now.isAfter(end())) {
            return Optional.of(what + " expired on " + end() + ": renew it");
        }
        return now.isAfter(end().minus(notice))
                ? Optional.of(what + " expires on " + end() + ": renew it")
                : Optional.empty();
    }
}
