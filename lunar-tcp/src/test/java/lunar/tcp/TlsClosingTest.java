package lunar.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.EOFException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import javax.net.ssl.SSLSocket;
import lunar.iscsi.framing.Framing;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.spi.Transport.Release;
import lunar.testkit.TestCertificates;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the tests of how connections end on those with TLS. */
class TlsClosingTest extends TcpClosingTest {
    @TempDir
    Path directory;
    private TestCertificates certificates;

    @BeforeEach
    void writeFiles() {
        certificates = TestCertificates.in(directory);
        var _ = TlsPeer.of(certificates); // sets the limit of keys
    }

    @Override
    Network network(int loopCount, Framing framing, Function<Transport, Endpoint> server) {
        return new Network(loopCount, framing, server, certificates);
    }

    @Test
    @Override
    void shouldResetWhenAnOpenerIsLeftByItsPeerWithPdusQueued() throws Exception {
        MemorySegment data = MemorySegment.ofArray(new byte[64 * 1024]);
        try (var network = network(1, Network.LONG, Endpoint::new);
                var listening = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            var accepted = CompletableFuture.supplyAsync(() -> handshake(listening),
                    Thread::startVirtualThread);
            var made = new LinkedBlockingQueue<Endpoint>();
            Transport _ = network.loops.connect(
                    (InetSocketAddress) listening.getLocalSocketAddress(), 60_000,
                    network.clientFiles(), transport -> {
                        transport.framing(Network.LONG);
                        made.add(new Endpoint(transport));
                        return made.element();
                    });
            Endpoint end = made.remove();
            try (Socket peer = accepted.get(60, TimeUnit.SECONDS)) {
                for (int i = 0; i < 200; i++) {
                    end.send(i, data, Release.NOTHING);
                }
                end.transport.flush();
                peer.shutdownOutput();
                end.awaitClosed();
                assertThat(drainUntilReset(peer)).isLessThan(200L * data.byteSize());
            }
        }
    }

    private SSLSocket handshake(ServerSocket listening) {
        try {
            SSLSocket peer = TlsPeer.of(certificates).accepted(listening.accept());
            peer.startHandshake();
            return peer;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** The JDK's sockets send a close_notify before a reset, so the reset is that of the socket below. */
    @Test
    @Override
    void shouldReportTheCauseOfAReset() throws Exception {
        try (var network = network(1, Network.LONG, Endpoint::new)) {
            var plain = new Socket(network.portal().getAddress(), network.portal().getPort());
            TlsPeer.of(certificates).over(plain).startHandshake();
            Endpoint end = network.accepted();
            plain.setSoLinger(true, 0);
            plain.close();
            end.awaitClosed();
            assertThat(end.cause).isNotNull();
        }
    }

    /** An attacker can end the TCP connection, but not make a close_notify. */
    @Test
    void shouldTakeAnEndWithoutCloseNotifyForAFailure() throws Exception {
        try (var network = network(1, Network.LONG, Endpoint::new);
                var plain = new Socket(network.portal().getAddress(),
                        network.portal().getPort())) {
            plain.setSoTimeout(60_000);
            SSLSocket peer = TlsPeer.of(certificates).over(plain);
            Endpoint end = network.accepted();
            peer.getOutputStream().write(Endpoint.header(7, 0).toArray(ValueLayout.JAVA_BYTE));
            assertThat(end.tags.poll(60, TimeUnit.SECONDS)).isEqualTo(7);
            plain.shutdownOutput(); // between two PDUs
            end.awaitClosed();
            assertThat(end.cause).isInstanceOf(EOFException.class)
                    .hasMessageContaining("without a TLS close_notify");
            network.close();
            assertThat(network.loops.tlsBuffersInUse()).isZero();
        }
    }
}
