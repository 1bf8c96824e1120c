package lunar.tls;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** Creates contexts of TLS 1.3. */
public final class TlsContext {
    /** The version that is used: it encrypts certificates, and has no weak ciphers and no renegotiation. */
    public static final String PROTOCOL = "TLSv1.3";

    private TlsContext() {}

    /**
     * Creates a context.
     *
     * @param own of the key of this end, see {@link CertifiedKey#managers}; none for an end without a certificate
     * @param trusted file of certificates that are trusted, of CAs or of peers themselves, in PEM; empty for the CAs
     *        that the JDK trusts
     * @throws IOException if the file cannot be read, or has no certificate; one line for the operator
     */
    public static SSLContext create(KeyManager[] own, Optional<Path> trusted) throws IOException {
        try {
            SSLContext context = SSLContext.getInstance(PROTOCOL);
            context.init(own, trusted.isPresent() ? managers(trusted.get()) : null, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException("TLS cannot be used: " + e.getMessage(), e);
        }
    }

    private static TrustManager[] managers(Path trusted)
            throws GeneralSecurityException, IOException {
        KeyStore store = emptyStore();
        List<X509Certificate> certificates = new PemFile("the CA file", trusted).certificates();
        for (int i = 0; i < certificates.size(); i++) {
            store.setCertificateEntry("ca" + i, certificates.get(i));
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
        factory.init(store);
        return factory.getTrustManagers();
    }

    static KeyStore emptyStore() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }
}
