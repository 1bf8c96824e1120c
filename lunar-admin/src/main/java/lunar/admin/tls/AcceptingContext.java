package lunar.admin.tls;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.security.KeyManagementException;
import java.security.SecureRandom;
import java.util.function.Supplier;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLContextSpi;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLServerSocketFactory;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManager;
import lunar.tls.TlsContext;
import org.jspecify.annotations.Nullable;

/**
 * A context whose socket factory calls a hook for each connection that a server has accepted, and which delegates all
 * else to another context, which may change. So a web server that keeps its context for life uses renewed certificates,
 * without sessions that were begun with the old ones.
 */
final class AcceptingContext extends SSLContext {
    /** Does the handshake of a connection. */
    interface Handshake {
        SSLSocket accept(Socket connection) throws IOException;
    }

    AcceptingContext(Supplier<SSLContext> current, Handshake handshake) {
        super(new Spi(current, handshake), current.get().getProvider(), TlsContext.PROTOCOL);
    }

    private static final class Spi extends SSLContextSpi {
        private final Supplier<SSLContext> current;
        private final SSLSocketFactory sockets;

        Spi(Supplier<SSLContext> current, Handshake handshake) {
            this.current = current;
            sockets = new Sockets(current, handshake);
        }

        @Override
        protected SSLSocketFactory engineGetSocketFactory() { return sockets; }

        @Override
        protected void engineInit(KeyManager @Nullable [] keys, TrustManager @Nullable [] trust,
                @Nullable SecureRandom random) throws KeyManagementException {
            throw new KeyManagementException("this context is initialized");
        }

        @Override
        protected SSLServerSocketFactory engineGetServerSocketFactory() {
            return current.get().getServerSocketFactory();
        }

        @Override
        protected SSLEngine engineCreateSSLEngine() { return current.get().createSSLEngine(); }

        @Override
        protected SSLEngine engineCreateSSLEngine(String host, int port) {
            return current.get().createSSLEngine(host, port);
        }

        @Override
        protected SSLSessionContext engineGetServerSessionContext() {
            return current.get().getServerSessionContext();
        }

        @Override
        protected SSLSessionContext engineGetClientSessionContext() {
            return current.get().getClientSessionContext();
        }
    }

    private static final class Sockets extends SSLSocketFactory {
        private final Supplier<SSLContext> current;
        private final Handshake handshake;

        Sockets(Supplier<SSLContext> current, Handshake handshake) {
            this.current = current;
            this.handshake = handshake;
        }

        /** Layers TLS over a connection that was accepted; nothing of it has been read. */
        @Override
        public Socket createSocket(Socket connection, @Nullable InputStream consumed,
                boolean closes) throws IOException {
            return handshake.accept(connection);
        }

        @Override
        public String[] getDefaultCipherSuites() {
            return current.get().getSocketFactory().getDefaultCipherSuites();
        }

        @Override
        public String[] getSupportedCipherSuites() {
            return current.get().getSocketFactory().getSupportedCipherSuites();
        }

        @Override
        public Socket createSocket(Socket connection, String host, int port, boolean closes) {
            throw clientSocket();
        }

        @Override
        public Socket createSocket(String host, int port) { throw clientSocket(); }

        @Override
        public Socket createSocket(String host, int port, InetAddress local, int localPort) {
            throw clientSocket();
        }

        @Override
        public Socket createSocket(InetAddress host, int port) { throw clientSocket(); }

        @Override
        public Socket createSocket(InetAddress host, int port, InetAddress local, int localPort) {
            throw clientSocket();
        }

        private static UnsupportedOperationException clientSocket() {
            return new UnsupportedOperationException("this context is for servers");
        }
    }
}
