package lunar.tcp;

import java.io.IOException;
import java.net.Socket;
import java.security.Security;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import lunar.testkit.TestCertificates;
import lunar.tls.CertifiedKey;
import lunar.tls.TlsContext;

/** Makes the TLS end that a test plays itself, of the JDK's sockets. */
record TlsPeer(SSLContext context) {
    static { // before the JDK's TLS reads it: keys are updated each 4 MiB
        Security.setProperty("jdk.tls.keyLimits", "AES/GCM/NoPadding KeyUpdate 2^22");
    }

    /** Returns a peer that trusts the authority and has the server's certificate. */
    static TlsPeer of(TestCertificates files) {
        try {
            return new TlsPeer(TlsContext.create(
                    CertifiedKey.read(files.file("server.pem"), files.file("server.key"))
                            .managers(),
                    Optional.of(files.file("ca.pem"))));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns the client's end over a connected socket, before its handshake. */
    SSLSocket over(Socket socket) throws IOException {
        return (SSLSocket) context.getSocketFactory().createSocket(socket, "127.0.0.1",
                socket.getPort(), true);
    }

    /** Returns the server's end over an accepted socket, before its handshake. */
    SSLSocket accepted(Socket socket) throws IOException {
        var secured = (SSLSocket) context.getSocketFactory().createSocket(socket, "127.0.0.1",
                socket.getPort(), true);
        secured.setUseClientMode(false);
        return secured;
    }
}
