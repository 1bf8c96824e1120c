package lunar.tcp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import lunar.iscsi.spi.TlsFiles;
import lunar.iscsi.spi.TransportProvider;

/**
 * Creates the engines of TLS connections from the content of PEM files. TLS 1.3 only. A client always verifies the
 * chain and the host of the server; a server verifies its clients if it has authorities for them. Immutable.
 */
final class TlsEngines implements TransportProvider.Credentials {
    private static final String[] PROTOCOLS = {"TLSv1.3"};
    private static final char[] NO_PASSWORD = {};

    private final SSLContext context;
    private final boolean asksClients;

    private TlsEngines(SSLContext context, boolean asksClients) {
        this.context = context;
        this.asksClients = asksClients;
    }

    /**
     * Reads the files of a client.
     *
     * @throws IOException if they cannot be used; the message is one line
     */
    static TlsEngines ofClient(TlsFiles files) throws IOException { return read(files); }

    /**
     * Reads the files of a server.
     *
     * @throws IOException if they cannot be used, or there is no certificate; the message is one line
     */
    static TlsEngines ofServer(TlsFiles files) throws IOException {
        if (files.certificate().isEmpty()) {
            throw new IOException("a portal with TLS needs a certificate and its key");
        }
        return read(files);
    }

    private static TlsEngines read(TlsFiles files) throws IOException {
        KeyManager[] own = files.certificate().isEmpty()
                ? new KeyManager[0]
                : own(files.certificate().get(), files.key().orElseThrow());
        KeyStore trusted = files.authorities().isEmpty()
                ? null
                : trusted(files.authorities().get());
        try {
            TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
            trust.init(trusted); // null for the JDK's own authorities
            SSLContext context = SSLContext.getInstance("TLSv1.3");
            context.init(own, trust.getTrustManagers(), null);
            return new TlsEngines(context, trusted != null);
        } catch (GeneralSecurityException e) {
            throw new IOException("TLS is not available: " + e.getMessage(), e);
        }
    }

    private static KeyManager[] own(Path certificate, Path key) throws IOException {
        List<X509Certificate> chain = Pem.certificates(certificate);
        var privateKey = Pem.key(key, chain.getFirst());
        try {
            KeyStore store = empty();
            store.setKeyEntry("own", privateKey, NO_PASSWORD,
                    chain.toArray(X509Certificate[]::new));
            KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
            keys.init(store, NO_PASSWORD);
            // The provider's factory makes one extended manager (JSSE Reference Guide).
            return new KeyManager[]{
                    new OwnCertificate((X509ExtendedKeyManager) keys.getKeyManagers()[0])};
        } catch (GeneralSecurityException e) {
            throw new IOException(certificate + ": cannot be used: " + e.getMessage(), e);
        }
    }

    private static KeyStore trusted(Path authorities) throws IOException {
        List<X509Certificate> certificates = Pem.certificates(authorities);
        try {
            KeyStore store = empty();
            for (int i = 0; i < certificates.size(); i++) {
                store.setCertificateEntry("authority-" + i, certificates.get(i));
            }
            return store;
        } catch (GeneralSecurityException e) {
            throw new IOException(authorities + ": cannot be used: " + e.getMessage(), e);
        }
    }

    private static KeyStore empty() throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    /** Creates the engine of a connection to a portal. The host of the address, as it was written, is verified. */
    SSLEngine client(InetSocketAddress portal) {
        SSLEngine engine = context.createSSLEngine(portal.getHostString(), portal.getPort());
        engine.setUseClientMode(true);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setProtocols(PROTOCOLS);
        parameters.setEndpointIdentificationAlgorithm("HTTPS"); // RFC 2818 section 3.1
        engine.setSSLParameters(parameters);
        return engine;
    }

    /** Creates the engine of a connection that a portal has accepted. */
    SSLEngine server() {
        SSLEngine engine = context.createSSLEngine();
        engine.setUseClientMode(false);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setProtocols(PROTOCOLS);
        parameters.setNeedClientAuth(asksClients);
        engine.setSSLParameters(parameters);
        return engine;
    }
}
