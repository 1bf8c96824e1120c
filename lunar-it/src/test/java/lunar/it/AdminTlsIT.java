package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lunar.admin.AdminOptions;
import lunar.admin.AdminServer;
import lunar.admin.TlsFiles;
import lunar.server.ServerPlan;
import lunar.server.StorageServer;
import lunar.testkit.TestCertificates;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests TLS of the admin API with the implementation of another project: curl with OpenSSL. */
@Timeout(600)
class AdminTlsIT {
    /** Exit statuses of curl. */
    private static final int SSL_CONNECT_ERROR = 35;
    private static final int PEER_FAILED_VERIFICATION = 60;

    private static final String TOKEN = "a-token-of-the-tests";

    @TempDir
    Path folder;

    private StorageServer server;

    @BeforeEach
    void write() throws Exception {
        Peer.assume("curl");
        var _ = TestCertificates.in(folder);
        Path token = Files.writeString(folder.resolve("token"), TOKEN);
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
    }

    private AdminServer listen(Optional<Path> clientCa) throws Exception {
        return AdminServer.start(new AdminOptions(Optional.empty(),
                Optional.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)),
                Optional.of(folder.resolve("token")), false,
                Optional.of(new TlsFiles(folder.resolve("server.pem"),
                        folder.resolve("server.key"), clientCa))),
                new FixedSubject(server));
    }

    private Peer.Result curl(AdminServer admin, String scheme, String... options)
            throws Exception {
        var command = new ArrayList<>(List.of("curl", "-sS", "--noproxy", "*", "-H",
                "Authorization: Bearer " + TOKEN));
        command.addAll(List.of(options));
        String base = scheme + "://localhost:" + admin.port().orElseThrow();
        command.addAll(List.of(base + "/v1/status", base + "/v1/luns")); // on one connection
        return Peer.run(command.toArray(String[]::new));
    }

    private String file(String name) { return folder.resolve(name).toString(); }

    @Test
    void shouldAnswerCurl() throws Exception {
        try (StorageServer served = StorageServer.start(ServerPlan.of(
                List.of(ServerPlan.Listen.on("127.0.0.1", 0)),
                List.of(ServerPlan.Target.of("iqn.2026-11.org.lunar:tls",
                        List.of("ram:1MiB")))))) {
            server = served;
            try (AdminServer admin = listen(Optional.empty())) {
                assertThat(curl(admin, "https", "--cacert", file("ca.pem")).succeeded().output())
                        .contains("\"status\":\"ok\"", "ram:1MiB");
                assertThat(curl(admin, "https", "--cacert", file("other-ca.pem")).status())
                        .isEqualTo(PEER_FAILED_VERIFICATION);
                assertThat(curl(admin, "https", "--cacert", file("ca.pem"), "--tls-max", "1.2")
                        .status()).isEqualTo(SSL_CONNECT_ERROR);
                assertThat(curl(admin, "http").status()).isNotZero();
            }
            try (AdminServer admin = listen(Optional.of(folder.resolve("ca.pem")))) {
                assertThat(curl(admin, "https", "--cacert", file("ca.pem"), "--cert",
                        file("client.pem"), "--key", file("client.key")).succeeded().output())
                        .contains("\"status\":\"ok\"", "ram:1MiB");
                assertThat(curl(admin, "https", "--cacert", file("ca.pem")).status()).isNotZero();
                assertThat(curl(admin, "https", "--cacert", file("ca.pem"), "--cert",
                        file("stranger.pem"), "--key", file("stranger.key")).status())
                        .isNotZero();
            }
        }
    }
}
