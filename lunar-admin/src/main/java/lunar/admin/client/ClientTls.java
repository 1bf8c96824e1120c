package lunar.admin.client;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import lunar.admin.tls.PrivateFile;
import lunar.admin.tls.ServerTls;
import lunar.tls.TlsContext;

/**
 * The client side of TLS 1.3: the CAs that it trusts, and its own certificate. The name or address of the server is
 * always compared with the certificate. Immutable, thread-safe.
 */
public final class ClientTls {
    private final SSLContext context;

    private ClientTls(SSLContext context) { this.context = context; }

    /**
     * Trusts the CAs that the JDK trusts, or those of a file.
     *
     * @param ca file of the CAs, in PEM; empty for those that the JDK trusts
     * @throws IOException if the file cannot be used; one line for the operator
     */
    public static ClientTls trusting(Optional<Path> ca) throws IOException {
        return new ClientTls(TlsContext.create(new KeyManager[0], ca));
    }

    /**
     * Like {@link #trusting}, with a certificate of the client for servers that require one.
     *
     * @param certificate file of the certificate chain, in PEM
     * @param key file of its private key, in PEM and PKCS#8, which only its owner can access
     * @throws IOException if a file cannot be used; one line for the operator
     */
    public static ClientTls trusting(Optional<Path> ca, Path certificate, Path key)
            throws IOException {
        return new ClientTls(TlsContext
                .create(PrivateFile.certifiedKey(certificate, key).managers(), ca));
    }

    /**
     * Does the handshake of a connection. The caller limits the time by closing the connection.
     *
     * @throws SSLException if one end does not trust the other, see {@link #reason}
     */
    SSLSocket connect(Socket connection, InetSocketAddress server) throws IOException {
        SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(connection,
                server.getHostString(), server.getPort(), true);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setProtocols(new String[]{TlsContext.PROTOCOL});
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        socket.setSSLParameters(parameters);
        socket.startHandshake();
        return socket;
    }

    /** Returns why TLS with a server fails, one line for the operator. */
    static String reason(SSLException e, InetSocketAddress server) {
        String name = server.getHostString() + ":" + server.getPort();
        if (ServerTls.isNotTls(e)) {
            return "the server at " + name + " does not use TLS: write the address without"
                    + " https://, or set 'certificate' and 'key' in its [admin]";
        }
        String message = String.valueOf(e.getMessage());
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof CertPathBuilderException) {
                return "the certificate of the server at " + name + " is not from a CA that is"
                        + " trusted: name the file of its CA with --ca";
            }
            if (cause instanceof CertPathValidatorException
                    || cause instanceof CertificateException) {
                message = String.valueOf(cause.getMessage());
            }
        }
        return "TLS with the server at " + name + " failed: " + message
                + (message.contains("certificate_required")
                        ? "; it requires a certificate of the client: --certificate and --key"
                        : "");
    }
}
