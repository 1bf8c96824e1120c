package lunar.tcp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.X509ExtendedKeyManager;
import lunar.iscsi.spi.TlsFiles;
import lunar.iscsi.spi.TransportProvider;
import lunar.tls.CertifiedKey;
import lunar.tls.TlsContext;

/**
 * Creates the engines of TLS connections from the content of PEM files. TLS 1.3 only. A client always verifies the
 * chain and the host of the server; a server verifies its clients if it has authorities for them. Immutable.
 */
final class TlsEngines implements TransportProvider.Credentials {
    private static final String[] PROTOCOLS = {TlsContext.PROTOCOL};

    private final SSLContext context;
    private final Optional<CertifiedKey> own;
    private final boolean asksClients;

    private TlsEngines(SSLContext context, Optional<CertifiedKey> own, boolean asksClients) {
        this.context = context;
        this.own = own;
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
        Optional<CertifiedKey> own = files.certificate().isEmpty()
                ? Optional.empty()
                : Optional.of(CertifiedKey.read(files.certificate().get(),
                        files.key().orElseThrow()));
        KeyManager[] managers = own.isEmpty()
                ? new KeyManager[0]
                : new KeyManager[]{
                        // The provider's factory makes one extended manager (JSSE Reference Guide).
                        new OwnCertificate((X509ExtendedKeyManager) own.get().managers()[0])};
        return new TlsEngines(TlsContext.create(managers, files.authorities()), own,
                files.authorities().isPresent());
    }

    @Override
    public Optional<String> problem(Instant now, Duration notice) {
        return own.flatMap(key -> key.problem(now, notice));
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
