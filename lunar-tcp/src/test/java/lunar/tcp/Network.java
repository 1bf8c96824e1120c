package lunar.tcp;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import javax.net.ssl.SSLSocket;
import lunar.iscsi.framing.Framing;
import lunar.iscsi.spi.LoopOptions;
import lunar.iscsi.spi.TlsFiles;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.spi.TransportProvider.Credentials;
import lunar.iscsi.spi.TransportProvider.Listener;
import lunar.testkit.TestCertificates;
import org.jspecify.annotations.Nullable;

/** Loops with one listener on the loopback interface, and connections to it. */
final class Network implements AutoCloseable {
    static final Framing LONG = new Framing(false, false, 1 << 20, 0);

    final TcpLoops loops;
    final Listener listener;
    private final @Nullable TestCertificates tls;
    final List<Endpoint> all = new CopyOnWriteArrayList<>();
    private final LinkedBlockingQueue<Endpoint> accepted = new LinkedBlockingQueue<>();

    Network(int loopCount, Framing framing, Function<Transport, Endpoint> server) {
        this(loopCount, framing, server, new Chunks());
    }

    Network(int loopCount, Framing framing, Function<Transport, Endpoint> server, Chunks chunks) {
        this(loopCount, framing, server, chunks, null);
    }

    /** A network with TLS. */
    Network(int loopCount, Framing framing, Function<Transport, Endpoint> server,
            TestCertificates tls) {
        this(loopCount, framing, server, new Chunks(), tls);
    }

    private Network(int loopCount, Framing framing, Function<Transport, Endpoint> server,
            Chunks chunks, @Nullable TestCertificates tls) {
        this.tls = tls;
        try {
            loops = new TcpLoops("test", LoopOptions.of(loopCount), chunks,
                    tls == null ? null : new TlsSetup("test"));
            listener = loops.listen(Endpoint.ANY_PORT, tls == null
                    ? Credentials.NONE
                    : TlsEngines.ofServer(tls.own("server")), transport -> {
                        transport.framing(framing);
                        Endpoint end = server.apply(transport);
                        all.add(end);
                        accepted.add(end);
                        return end;
                    });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    InetSocketAddress portal() { return listener.local(); }

    Endpoint connect(Framing framing, Function<Transport, Endpoint> client) throws IOException {
        var made = new LinkedBlockingQueue<Endpoint>();
        Transport _ = loops.connect(portal(), 60_000, clientFiles(), transport -> {
            transport.framing(framing);
            Endpoint end = client.apply(transport);
            all.add(end);
            made.add(end);
            return end;
        });
        return made.remove();
    }

    Endpoint connect() throws IOException { return connect(LONG, Endpoint::new); }

    /** A peer that the test plays itself; connected, and nothing read. */
    Socket rawPeer() throws IOException {
        var socket = new Socket();
        socket.setReceiveBufferSize(64 * 1024);
        socket.connect(portal(), 60_000);
        socket.setSoTimeout(60_000);
        if (tls == null) {
            return socket;
        }
        SSLSocket secured = TlsPeer.of(tls).over(socket);
        secured.startHandshake();
        return secured;
    }

    /** The files of a client that the listener accepts. */
    TlsFiles clientFiles() {
        return tls == null ? TlsFiles.NONE : tls.trusting();
    }

    /** Our end of the connection made last. */
    Endpoint accepted() throws InterruptedException {
        Endpoint end = accepted.poll(60, TimeUnit.SECONDS);
        if (end == null) {
            throw new AssertionError("no connection within 60 s");
        }
        return end;
    }

    @Override
    public void close() { loops.close(); }
}
