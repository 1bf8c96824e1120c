package lunar.tcp;

import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.Security;
import java.security.cert.X509Certificate;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import lunar.testkit.TestCertificates;

/** Makes the TLS end that a test plays itself, of the JDK's sockets. */
record TlsPeer(SSLContext context) {
    private static final char[] NO_PASSWORD = {};

    static { // before the JDK's TLS reads it: keys are updated each 4 MiB
        Security.setProperty("jdk.tls.keyLimits", "AES/GCM/NoPadding KeyUpdate 2^22");
    }

    /** Returns a peer that trusts the authority and has the server's certificate. */
    static TlsPeer of(TestCertificates files) {
        try {
            KeyStore trusted = KeyStore.getInstance("PKCS12");
            trusted.load(null, null);
            trusted.setCertificateEntry("ca", Pem.certificates(files.file("ca.pem")).getFirst());
            TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
            trust.init(trusted);
            X509Certificate own = Pem.certificates(files.file("server.pem")).getFirst();
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setKeyEntry("own", Pem.key(files.file("server.key"), own), NO_PASSWORD,
                    new X509Certificate[]{own});
            KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
            keys.init(store, NO_PASSWORD);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
            return new TlsPeer(context);
        } catch (IOException | GeneralSecurityException e) {
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
