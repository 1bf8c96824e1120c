package lunar.admin.tls;

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
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** A certificate chain with its private key, which proves who a peer of TLS is. Immutable, thread-safe. */
public final class Identity {
    /** The version that is used: it encrypts certificates, and has no weak ciphers and no renegotiation. */
    public static final String PROTOCOL = "TLSv1.3";

    private static final String TITLE = "the certificate file";
    private static final int CHALLENGE_BYTES = 32;

    private final Path file;
    private final X509Certificate certificate;
    private final KeyManager[] keys;

    private Identity(Path file, X509Certificate certificate, KeyManager[] keys) {
        this.file = file;
        this.certificate = certificate;
        this.keys = keys;
    }

    /**
     * Reads a certificate chain and its key.
     *
     * @param certificate file of the chain, in PEM: the certificate, then that of its issuer, and so on
     * @param key file of the key, in PEM and PKCS#8, which only its owner can access
     * @throws IOException if these cannot be used; one line for the operator
     */
    public static Identity read(Path certificate, Path key) throws IOException {
        List<X509Certificate> chain = PemFile.certificates(TITLE, certificate);
        PrivateKey secret = PemFile.privateKey(key);
        try {
            if (!isPair(secret, chain.getFirst().getPublicKey())) {
                throw new IOException("the key file " + key + " does not have the key of the first"
                        + " certificate of " + certificate);
            }
            KeyStore store = emptyStore();
            char[] password = {}; // of a store in memory alone
            store.setKeyEntry("own", secret, password, chain.toArray(X509Certificate[]::new));
            KeyManagerFactory factory = KeyManagerFactory
                    .getInstance(KeyManagerFactory.getDefaultAlgorithm());
            factory.init(store, password);
            return new Identity(certificate, chain.getFirst(), factory.getKeyManagers());
        } catch (KeyStoreException e) {
            throw new PrivateFile.Unfit(TITLE, certificate, "must contain its own certificate"
                    + " first, then the certificate of its issuer, and so on");
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

    private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    /** Returns why the certificate cannot be used at a time, one line for the operator; empty if it can. */
    public Optional<String> problem(Instant now) {
        if (now.isAfter(certificate.getNotAfter().toInstant())) {
            return Optional.of("the certificate in " + file + " expired on "
                    + certificate.getNotAfter().toInstant() + ": renew it");
        }
        return now.isBefore(certificate.getNotBefore().toInstant())
                ? Optional.of("the certificate in " + file + " is not valid before "
                        + certificate.getNotBefore().toInstant() + ": check the clock")
                : Optional.empty();
    }

    /** Returns when the certificate expires. */
    Instant end() {
        return certificate.getNotAfter().toInstant();
    }

    /**
     * Returns a context with an identity and trusted CAs.
     *
     * @param own the identity of this end; empty for a client without one
     * @param ca file of the CAs that certificates of peers must come from, in PEM; empty for those that the JDK trusts
     * @throws IOException if the file cannot be read, or has no certificate; one line for the operator
     */
    public static SSLContext context(Optional<Identity> own, Optional<Path> ca)
            throws IOException {
        try {
            SSLContext context = SSLContext.getInstance(PROTOCOL);
            KeyManager[] keys = own.isPresent() ? own.get().keys : new KeyManager[0];
            context.init(keys, ca.isPresent() ? trust(ca.get()) : null, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException("TLS cannot be used: " + e.getMessage(), e);
        }
    }

    private static TrustManager[] trust(Path ca) throws GeneralSecurityException, IOException {
        KeyStore store = emptyStore();
        List<X509Certificate> trusted = PemFile.certificates("the CA file", ca);
        for (int i = 0; i < trusted.size(); i++) {
            store.setCertificateEntry("ca" + i, trusted.get(i));
        }
        TrustManagerFactory factory = TrustManagerFactory
                .getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return factory.getTrustManagers();
    }
}
