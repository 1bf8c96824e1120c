package lunar.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import lunar.iscsi.spi.LoopOptions;
import lunar.iscsi.spi.TlsFiles;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.spi.TransportProvider.Listener;
import lunar.iscsi.spi.Transports;
import lunar.testkit.TestCertificates;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TlsHandshakeTest {
    private static final int TIMEOUT_MS = 60_000;

    @TempDir
    Path directory;
    private TestCertificates certificates;
    private TcpLoops loops;
    private final LinkedBlockingQueue<Endpoint> accepted = new LinkedBlockingQueue<>();

    @BeforeEach
    void start() throws IOException {
        certificates = TestCertificates.in(directory);
        loops = TcpLoops.withTls("test", LoopOptions.of(1));
    }

    @AfterEach
    void stop() {
        loops.close();
        assertThat(loops.tlsBuffersInUse()).isZero();
        assertThat(loops.chunksInUse()).isZero();
    }

    private Listener listen(TlsFiles files) throws IOException {
        return loops.listen(Endpoint.ANY_PORT, TlsEngines.ofServer(files), transport -> {
            var end = new Endpoint(transport, Endpoint::echo);
            accepted.add(end);
            return end;
        });
    }

    private Endpoint accepted() throws InterruptedException {
        Endpoint end = accepted.poll(60, TimeUnit.SECONDS);
        assertThat(end).as("a connection within 60 s").isNotNull();
        return end;
    }

    private Endpoint connect(InetSocketAddress portal, TlsFiles files) throws IOException {
        var made = new LinkedBlockingQueue<Endpoint>();
        Transport _ = loops.connect(portal, TIMEOUT_MS, files, transport -> {
            made.add(new Endpoint(transport));
            return made.element();
        });
        return made.remove();
    }

    /** Connects with files that the portal refuses. A client of TLS 1.3 hears of it after its handshake, perhaps. */
    private String refusal(InetSocketAddress portal, TlsFiles files) throws Exception {
        try {
            Endpoint refused = connect(portal, files);
            refused.awaitClosed();
            assertThat(refused.cause).isNotNull();
            return String.valueOf(refused.cause.getMessage());
        } catch (IOException e) {
            return e.getMessage();
        }
    }

    private TlsFiles client(String certificate, String key) {
        return new TlsFiles(Optional.of(certificates.file("ca.pem")),
                Optional.of(certificates.file(certificate)), Optional.of(certificates.file(key)));
    }

    private String failure(InetSocketAddress portal, TlsFiles files) {
        var message = new String[1];
        assertThatIOException().isThrownBy(() -> connect(portal, files))
                .satisfies(e -> message[0] = e.getMessage());
        assertThat(message[0]).doesNotContain("\n");
        return message[0];
    }

    @Test
    void shouldRefuseAServerWithoutATrustedAuthority() throws Exception {
        try (Listener listener = listen(certificates.own("other"))) {
            for (TlsFiles files : List.of(certificates.trusting(), TlsFiles.NONE)) {
                assertThat(failure(listener.local(), files)).startsWith("TLS handshake with ")
                        .contains("no trusted CA has issued the peer's certificate", "tls-ca");
                Endpoint end = accepted();
                end.awaitClosed();
                assertThat(end.cause).hasMessageContaining("the peer refused with alert");
            }
        }
    }

    @Test
    void shouldRefuseACertificateOfAnotherHost() throws Exception {
        try (Listener listener = listen(certificates.own("other"))) {
            assertThat(failure(listener.local(),
                    TlsFiles.trusting(certificates.file("other.pem"))))
                    .startsWith("TLS handshake with ")
                    .contains("matching IP address 127.0.0.1 found; connect by a name",
                            "subjectAltName");
        }
    }

    @Test
    void shouldVerifyTheHostAsItWasWritten() throws Exception {
        try (Listener listener = listen(certificates.own("server"))) {
            int port = listener.local().getPort();
            InetAddress place = listener.local().getAddress();
            connect(new InetSocketAddress(
                    InetAddress.getByAddress("localhost", place.getAddress()), port),
                    certificates.trusting()).ping(1);
            assertThat(failure(new InetSocketAddress(
                    InetAddress.getByAddress("elsewhere.example", place.getAddress()), port),
                    certificates.trusting())).contains("elsewhere.example")
                    .endsWith("this name or address as subjectAltName");
        }
    }

    @Test
    void shouldRequireAClientsCertificateWhereThePortalHasAuthorities() throws Exception {
        try (Listener listener = listen(
                certificates.own("server").withAuthorities(certificates.file("ca.pem")))) {
            connect(listener.local(), certificates.mutual()).ping(1);
            Endpoint _ = accepted();
            assertThat(refusal(listener.local(), certificates.trusting())).isNotEmpty();
            Endpoint end = accepted();
            end.awaitClosed();
            assertThat(end.cause).hasMessageContaining("TLS handshake with 127.0.0.1")
                    .hasMessageContaining("has no certificate, which client-ca requires");
            assertThat(end.tags).isEmpty();
        }
    }

    @Test
    void shouldVerifyAClientsCertificateOfAnotherAuthority() throws Exception {
        try (Listener listener = listen(
                certificates.own("server").withAuthorities(certificates.file("ca.pem")))) {
            assertThat(refusal(listener.local(), client("stranger.pem", "stranger.key")))
                    .doesNotContain("requires a certificate");
            Endpoint end = accepted();
            end.awaitClosed();
            assertThat(end.cause).hasMessageContaining("TLS handshake with 127.0.0.1")
                    .hasMessageContaining("no trusted CA has issued the peer's certificate")
                    .hasMessageContaining("client-ca");
            assertThat(end.tags).isEmpty();
        }
    }

    @Test
    void shouldAcceptAClientsCertificateThatIsItsOwnAuthority() throws Exception {
        try (Listener listener = listen(
                certificates.own("server").withAuthorities(certificates.file("client.pem")))) {
            connect(listener.local(), certificates.mutual()).ping(1);
            Endpoint _ = accepted();
            refusal(listener.local(), client("stranger.pem", "stranger.key"));
            Endpoint end = accepted();
            end.awaitClosed();
            assertThat(end.cause)
                    .hasMessageContaining("no trusted CA has issued the peer's certificate");
        }
    }

    @Test
    void shouldDescribeExpiredCertificates() throws Exception {
        String expired = "the peer's certificate expired on 2021-01-01T00:00:00Z; renew it, or"
                + " check this machine's clock";
        try (Listener listener = listen(TlsFiles.of(certificates.file("expired.pem"),
                certificates.file("server.key")))) {
            assertThat(failure(listener.local(), certificates.trusting())).endsWith(expired);
            Endpoint end = accepted();
            end.awaitClosed();
            assertThat(end.cause).hasMessageEndingWith("the peer refused with alert"
                    + " certificate_expired; the certificate of this end has expired; renew it, or"
                    + " check the peer's clock");
        }
        try (Listener listener = listen(
                certificates.own("server").withAuthorities(certificates.file("ca.pem")))) {
            refusal(listener.local(), client("expired.pem", "server.key"));
            Endpoint end = accepted();
            end.awaitClosed();
            assertThat(end.cause).hasMessageEndingWith(expired);
        }
    }

    @Test
    void shouldEndAPeerThatDoesNotUseTls() throws Exception {
        try (Listener listener = listen(certificates.own("server"));
                var peer = new Socket(listener.local().getAddress(), listener.local().getPort())) {
            peer.setSoTimeout(TIMEOUT_MS);
            peer.getOutputStream().write(Endpoint.header(1, 0).toArray(ValueLayout.JAVA_BYTE));
            Endpoint end = accepted();
            end.awaitClosed();
            assertThat(end.cause).hasMessageContaining("the initiator does not use TLS; it must");
            assertThat(end.tags).isEmpty();
        }
    }

    @Test
    void shouldFailSoonAtAPortalWithoutTls() throws Exception {
        try (var network = new Network(1, Network.LONG, Endpoint::new)) {
            assertThat(failure(network.portal(), certificates.trusting()))
                    .startsWith("TLS handshake with ");
        }
        assertThat(failureAtServerThatSends("")).endsWith(
                "the peer closed the connection; if the portal has no TLS, write iscsi: instead of"
                        + " iscsis:");
        assertThat(failureAtServerThatSends("SSH-2.0-server\r\n")).endsWith(
                "failed: the portal does not use TLS; write iscsi: instead of iscsis:");
    }

    /** Connects to a server that reads once, sends a text and closes the connection. */
    private String failureAtServerThatSends(String text) throws IOException {
        try (var listening = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            Thread.startVirtualThread(() -> {
                try (Socket socket = listening.accept(); InputStream in = socket.getInputStream()) {
                    int _ = in.read(new byte[4096]);
                    socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            return failure((InetSocketAddress) listening.getLocalSocketAddress(),
                    certificates.trusting());
        }
    }

    @Test
    void shouldRefuseTls12() throws Exception {
        try (Listener listener = listen(certificates.own("server"));
                var plain = new Socket(listener.local().getAddress(),
                        listener.local().getPort())) {
            plain.setSoTimeout(TIMEOUT_MS);
            SSLSocket peer = TlsPeer.of(certificates).over(plain);
            peer.setEnabledProtocols(new String[]{"TLSv1.2"});
            assertThatIOException().isThrownBy(peer::startHandshake)
                    .isInstanceOf(SSLException.class).withMessageContaining("protocol_version");
            Endpoint end = accepted();
            end.awaitClosed();
            assertThat(end.cause).hasMessageContaining("TLSv1.2");
        }
    }

    @Test
    void shouldGiveUpASilentPortalAfterTheTimeout() throws Exception {
        try (var listening = new ServerSocket(0, 5, InetAddress.getByName("127.0.0.1"))) {
            var made = new LinkedBlockingQueue<Endpoint>();
            assertThatIOException().isThrownBy(() -> loops.connect(
                    (InetSocketAddress) listening.getLocalSocketAddress(), 500,
                    certificates.trusting(), transport -> {
                        made.add(new Endpoint(transport));
                        return made.element();
                    }));
            for (Endpoint end : made) {
                end.awaitClosed();
            }
        }
    }

    /** The receiver's deadline is what ends a silent client, so it must be made, and able to, before the handshake. */
    @Test
    void shouldBeEndedByItsReceiverDuringTheHandshake() throws Exception {
        try (Listener listener = listen(certificates.own("server"))) {
            for (boolean orderly : new boolean[]{true, false}) {
                try (var peer = new Socket(listener.local().getAddress(),
                        listener.local().getPort())) {
                    peer.setSoTimeout(TIMEOUT_MS);
                    peer.getOutputStream().write(0x16); // the first byte of a record
                    Endpoint end = accepted();
                    if (orderly) {
                        end.transport.close();
                    } else {
                        end.transport.abort();
                    }
                    end.awaitClosed();
                    int read;
                    try {
                        read = peer.getInputStream().read();
                    } catch (IOException _) {
                        read = -1;
                    }
                    assertThat(read).isEqualTo(-1);
                }
            }
        }
    }

    @Test
    void shouldServeSessionsWhileHandshakesStandStill() throws Exception {
        List<Socket> silent = new ArrayList<>();
        try (Listener listener = listen(certificates.own("server"))) {
            Endpoint client = connect(listener.local(), certificates.trusting());
            for (int i = 0; i < 100; i++) {
                var peer = new Socket(listener.local().getAddress(), listener.local().getPort());
                peer.getOutputStream().write(0x16);
                silent.add(peer);
                client.ping(i);
            }
            connect(listener.local(), certificates.trusting()).ping(1);
        } finally {
            for (Socket peer : silent) {
                peer.close();
            }
        }
    }

    @Test
    void shouldUseRenewedCertificatesForNewConnections() throws Exception {
        TlsFiles files = certificates.own("server");
        try (Listener listener = listen(files)) {
            Endpoint before = connect(listener.local(), certificates.trusting());
            before.ping(1);
            listener.use(TlsEngines.ofServer(certificates.own("other")));
            assertThat(failure(listener.local(), certificates.trusting()))
                    .contains("no trusted CA has issued the peer's certificate");
            before.ping(2);

            Files.copy(certificates.file("renewed.pem"), certificates.file("server.pem"),
                    StandardCopyOption.REPLACE_EXISTING);
            assertThatIOException().isThrownBy(() -> TlsEngines.ofServer(files))
                    .withMessageContaining("does not have the key of the first");
            Files.copy(certificates.file("renewed.key"), certificates.file("server.key"),
                    StandardCopyOption.REPLACE_EXISTING);
            listener.use(TlsEngines.ofServer(files));
            connect(listener.local(), certificates.trusting()).ping(1);
        }
    }

    @Test
    void shouldRequireACertificateOfAPortal() throws Exception {
        assertThatIOException().isThrownBy(() -> listen(TlsFiles.NONE))
                .withMessage("a portal with TLS needs a certificate and its key");
        assertThatIOException().isThrownBy(
                () -> Transports.credentials(Transports.ISCSIS, TlsFiles.NONE));
        Transports.credentials(Transports.ISCSIS, certificates.own("server"));
        Transports.credentials(Transports.ISCSI, TlsFiles.NONE);
    }
}
