package lunar.admin.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import lunar.admin.AdminOptions;
import lunar.admin.AdminServer;
import lunar.admin.TlsFiles;
import lunar.admin.client.AdminClient;
import lunar.admin.client.ClientTls;
import lunar.admin.client.RequestFailedException;
import lunar.admin.client.UnreachableException;
import lunar.admin.tls.ServerTls;
import lunar.testkit.CapturedLog;
import lunar.testkit.TestCertificates;
import lunar.tls.TlsContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Tests TLS of the admin API: who trusts whom, renewed certificates, and peers that are hostile. */
@Timeout(600)
class TlsTest {
    private static final Duration LONG = Duration.ofMinutes(10);
    private static final Duration SHORT = Duration.ofMillis(300);
    /** Connections that a listener takes, and some more. */
    private static final int CROWD = 40;

    @TempDir
    Path folder;

    private AdminFixture fixture;
    private CapturedLog log;

    @BeforeEach
    void start() throws Exception {
        var _ = TestCertificates.in(folder);
        fixture = new AdminFixture(folder);
        log = new CapturedLog("lunar.admin");
    }

    @AfterEach
    void stop() throws Exception {
        fixture.close();
        log.close();
    }

    private Path file(String name) { return folder.resolve(name); }

    private ServerTls tls(String name, Optional<Path> clientCa) throws IOException {
        return ServerTls.read(file(name + ".pem"), file(name + ".key"), clientCa, Duration.ZERO);
    }

    private Listener listen(ServerTls tls, Duration request) throws IOException {
        return Listener.start(AdminFixture.loopback(), new Api(fixture.subject()),
                Optional.of(Token.read(file("token"))), Optional.of(tls),
                new RequestDeadlines(request, LONG));
    }

    private Listener listen(String name, Optional<Path> clientCa) throws IOException {
        return listen(tls(name, clientCa), LONG);
    }

    private ClientTls trusting(String ca) throws IOException {
        return ClientTls.trusting(Optional.of(file(ca)));
    }

    private ClientTls as(String name) throws IOException {
        return ClientTls.trusting(Optional.of(file("ca.pem")), file(name + ".pem"),
                file(name + ".key"));
    }

    private static AdminClient client(Listener listener, String host, ClientTls tls) {
        return AdminClient.of(new InetSocketAddress(host, listener.port()), AdminFixture.TOKEN,
                tls);
    }

    private static void assertAnswers(Listener listener, ClientTls tls) throws IOException {
        assertThat(client(listener, "localhost", tls).get("/v1/status").path("luns").asInt())
                .isEqualTo(1);
    }

    @Test
    void shouldAnswerClientsThatTrustTheServer() throws Exception {
        for (String name : new String[]{"server", "renewed"}) { // EC and RSA
            try (Listener listener = listen(name, Optional.empty())) {
                for (String host : new String[]{"localhost", "127.0.0.1"}) {
                    AdminClient client = client(listener, host, trusting("ca.pem"));
                    assertThat(client.get("/v1/status").path("luns").asInt()).isEqualTo(1);
                    assertThat(client.post("/v1/reload").path("changes").size()).isEqualTo(1);
                    assertThat(client.text("/metrics")).contains("lunar_build_info");
                }
                var other = AdminClient.of(new InetSocketAddress("localhost", listener.port()),
                        "a-token-of-another-server", trusting("ca.pem"));
                assertThatThrownBy(() -> other.get("/v1/status"))
                        .isInstanceOf(RequestFailedException.class)
                        .hasMessageContaining("bearer token");
            }
        }
        assertThat(log.linesWith("")).isEmpty();
    }

    @Test
    void shouldServeTheDashboardToABrowser() throws Exception {
        SSLContext context = TlsContext.create(new KeyManager[0], Optional.of(file("ca.pem")));
        try (Listener listener = listen("server", Optional.empty());
                HttpClient browser = HttpClient.newBuilder().sslContext(context).build()) {
            String base = "https://localhost:" + listener.port();
            for (String path : new String[]{"/", "/ui/dashboard.js", "/"}) {
                HttpResponse<String> page = browser.send(
                        HttpRequest.newBuilder(URI.create(base + path)).build(),
                        HttpResponse.BodyHandlers.ofString());
                assertThat(page.statusCode()).isEqualTo(200);
                assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
                        .contains("connect-src 'self'");
                assertThat(page.sslSession().orElseThrow().getProtocol()).isEqualTo("TLSv1.3");
            }
        }
    }

    @Test
    void shouldRefuseServersThatAreNotTrusted() throws Exception {
        try (Listener listener = listen("server", Optional.empty());
                Listener elsewhere = listen("elsewhere", Optional.empty())) {
            for (ClientTls tls : List.of(trusting("other-ca.pem"),
                    ClientTls.trusting(Optional.empty()))) {
                assertThatThrownBy(() -> client(listener, "localhost", tls).get("/healthz"))
                        .isNotInstanceOf(UnreachableException.class)
                        .hasMessageContaining("not from a CA that is trusted")
                        .hasMessageContaining("--ca");
            }
            for (String host : new String[]{"localhost", "127.0.0.1"}) {
                assertThatThrownBy(
                        () -> client(elsewhere, host, trusting("ca.pem")).get("/healthz"))
                        .isNotInstanceOf(UnreachableException.class)
                        .hasMessageContaining("TLS with the server at " + host)
                        .hasMessageMatching("(?s).*(matching|match).*" + host + ".*");
            }
        }
    }

    @Test
    void shouldRequireCertificatesOfClients() throws Exception {
        try (Listener listener = listen("server", Optional.of(file("ca.pem")))) {
            ClientTls known = as("client");
            assertAnswers(listener, known);
            assertAnswers(listener, known); // of a session that may be resumed
            assertThat(log.linesWith("")).isEmpty();
            assertThatThrownBy(() -> assertAnswers(listener, trusting("ca.pem")))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("a certificate of the client");
            assertThatThrownBy(() -> assertAnswers(listener, as("stranger")))
                    .isInstanceOf(IOException.class);
            assertThatThrownBy(() -> assertAnswers(listener, as("server"))) // not for clients
                    .isInstanceOf(IOException.class);
            awaitLines("127.0.0.1: the TLS handshake failed", 3);
        }
    }

    @Test
    void shouldCloseConnectionsWithoutTls() throws Exception {
        try (Listener listener = listen("server", Optional.empty())) {
            var plain = AdminClient.of(new InetSocketAddress("localhost", listener.port()),
                    AdminFixture.TOKEN);
            assertThatThrownBy(() -> plain.get("/v1/status")).isInstanceOf(IOException.class);
            awaitLines("its client does not use TLS", 1);
            assertAnswers(listener, trusting("ca.pem"));
        }
        ClientTls tls = trusting("ca.pem");
        var address = new InetSocketAddress("localhost", fixture.admin.port().orElseThrow());
        assertThatThrownBy(
                () -> AdminClient.of(address, AdminFixture.TOKEN, tls).get("/v1/status"))
                .isInstanceOf(IOException.class);
    }

    @Test
    void shouldRefuseOlderVersions() throws Exception {
        SSLContext context = TlsContext.create(new KeyManager[0], Optional.of(file("ca.pem")));
        try (Listener listener = listen("server", Optional.empty())) {
            try (var socket = (SSLSocket) context.getSocketFactory().createSocket("localhost",
                    listener.port())) {
                socket.setEnabledProtocols(new String[]{"TLSv1.2"});
                assertThatThrownBy(socket::startHandshake).isInstanceOf(SSLException.class);
            }
            awaitLines("the TLS handshake failed", 1);
        }
    }

    /** Waits for lines of the log, which may come after the connection is closed; there must be no others. */
    private void awaitLines(String part, int count) throws InterruptedException {
        while (log.linesWith(part).size() < count) {
            Thread.sleep(10);
        }
        assertThat(log.linesWith("")).hasSize(count);
    }

    @Test
    void shouldUseRenewedCertificates() throws Exception {
        ServerTls tls = tls("server", Optional.empty());
        SSLContext context = TlsContext.create(new KeyManager[0], Optional.of(file("ca.pem")));
        try (Listener listener = listen(tls, LONG)) {
            assertThat(subject(context, listener)).contains("Lunar test server");
            TestCertificates.write("renewed.pem", file("server.pem")); // and not yet its key
            assertThat(subject(context, listener)).contains("Lunar test server");
            assertThat(subject(context, listener)).contains("Lunar test server");
            assertThat(log.linesWith("keeps its previous certificate")).hasSize(1);
            assertThat(tls.problems()).singleElement().asString()
                    .contains("does not have the key");
            TestCertificates.write("renewed.key", file("server.key"));
            assertThat(subject(context, listener)).contains("Lunar test renewed");
            assertThat(tls.problems()).isEmpty();
            Files.delete(file("server.pem"));
            assertThat(subject(context, listener)).contains("Lunar test renewed");
            assertThat(log.linesWith("does not exist; the admin API keeps")).hasSize(1);
            assertThat(log.linesWith("uses the changed certificate")).hasSize(1);
        }
    }

    /** Returns the name in the certificate of a listener. */
    private static String subject(SSLContext context, Listener listener) throws IOException {
        try (var socket = (SSLSocket) context.getSocketFactory().createSocket("localhost",
                listener.port())) {
            socket.getOutputStream().write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
                    .getBytes(StandardCharsets.US_ASCII));
            assertThat(socket.getInputStream().read()).isEqualTo('H');
            return ((X509Certificate) socket.getSession().getPeerCertificates()[0])
                    .getSubjectX500Principal().getName();
        }
    }

    @Test
    void shouldCloseSlowHandshakes() throws Exception {
        byte[] half = {0x16, 3, 1, 2, 0, 1, 0, 1, (byte) 0xfc, 3, 3};
        try (Listener listener = listen(tls("server", Optional.empty()), SHORT)) {
            var crowd = new ArrayList<Socket>();
            try {
                for (int i = 0; i < CROWD; i++) {
                    var socket = new Socket("localhost", listener.port());
                    crowd.add(socket);
                    socket.getOutputStream().write(half, 0, i % 2 * half.length);
                }
                for (Socket each : crowd) {
                    assertCloses(each);
                }
            } finally {
                for (Socket each : crowd) {
                    each.close();
                }
            }
        }
        try (Listener listener = listen("server", Optional.empty())) {
            for (int i = 0; i < CROWD; i++) {
                new Socket("localhost", listener.port()).close();
            }
            assertAnswers(listener, trusting("ca.pem"));
        }
        assertThat(log.linesWith("")).isEmpty();
    }

    @Test
    void shouldCloseConnectionsWithInvalidRecords() throws Exception {
        try (Listener listener = listen("server", Optional.empty())) {
            for (int length : new int[]{0xffff, 0x9000}) { // the JDK takes 33,088 bytes
                try (var socket = new Socket("localhost", listener.port())) {
                    socket.getOutputStream().write(
                            new byte[]{0x16, 3, 3, (byte) (length >> 8), (byte) length, 1, 0});
                    assertCloses(socket);
                }
            }
            awaitLines("the TLS handshake failed", 2);
            assertAnswers(listener, trusting("ca.pem"));
        }
    }

    /** Blocks until the peer closes a connection. */
    private static void assertCloses(Socket socket) {
        try {
            InputStream in = socket.getInputStream();
            while (in.read() >= 0) {
                // an alert
            }
        } catch (IOException e) {
            assertThat(e).hasMessageMatching("(?i).*(reset|broken pipe).*");
        }
    }

    @Test
    void shouldReportAnExpiredCertificate() throws Exception {
        Path socket = file("expired.sock");
        var options = AdminOptions.ofSocket(socket)
                .withListen(AdminFixture.loopback(), file("token"))
                .withTls(new TlsFiles(file("expired.pem"), file("server.key"),
                        Optional.empty()));
        try (AdminServer server = AdminServer.start(options, fixture.subject())) {
            assertThat(log.linesWith("expired.pem expired on 2021")).hasSize(1);
            JsonNode status = AdminClient.of(socket).get("/v1/status");
            assertThat(status.path("status").asString()).isEqualTo("degraded");
            assertThat(status.path("problems").path(0).asString()).contains("expired on 2021");
            var address = new InetSocketAddress("localhost", server.port().orElseThrow());
            assertThatThrownBy(() -> AdminClient
                    .of(address, AdminFixture.TOKEN, trusting("ca.pem")).get("/v1/status"))
                    .isNotInstanceOf(UnreachableException.class)
                    .hasMessageContaining("TLS with the server at localhost");
        }
        assertThat(AdminServer.checkTls(options.tls().orElseThrow())).isPresent();
    }

    @Test
    void shouldNotStartWithAKeyThatOthersCanRead() throws Exception {
        Files.setPosixFilePermissions(file("server.key"),
                PosixFilePermissions.fromString("rw-r-----"));
        var options = AdminOptions.ofSocket(file("other.sock"))
                .withListen(AdminFixture.loopback(), file("token"))
                .withTls(new TlsFiles(file("server.pem"), file("server.key"), Optional.empty()));
        assertThatThrownBy(() -> AdminServer.start(options, fixture.subject()))
                .hasMessageContaining("chmod 600");
        assertThat(file("other.sock")).doesNotExist();
    }
}
