package lunar.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import lunar.iscsi.spi.TlsFiles;
import lunar.iscsi.spi.Transports;
import lunar.testkit.TestCertificates;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the checks of the PEM files of portals, at a start, at a reload, and without a server. */
class PortalFilesTest {
    private static final String IQN = "iqn.2026-11.org.lunar:tls";

    @TempDir
    Path folder;

    private TestCertificates certificates = new TestCertificates(Path.of("."));
    private final List<String> warnings = new ArrayList<>();
    private final ServerListener listener = new ServerListener() {
        @Override
        public void warned(String message, @Nullable IOException cause) { warnings.add(message); }
    };

    @BeforeEach
    void writeCertificates() { certificates = TestCertificates.in(folder); }

    private static ServerPlan.Listen portal(String host, int port, TlsFiles files) {
        return ServerPlan.Listen.on(host, port).withTransport(Transports.ISCSIS).withTls(files);
    }

    private static ServerPlan plan(ServerPlan.Listen... portals) {
        return ServerPlan.of(List.of(portals),
                List.of(ServerPlan.Target.of(IQN, List.of("ram:1MiB"))));
    }

    private TlsFiles expired() {
        return TlsFiles.of(certificates.file("expired.pem"), certificates.file("server.key"));
    }

    @Test
    void shouldWarnOnceAtEachStartAndReload() throws Exception {
        Path key = certificates.file("server.key");
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r--r--"));
        ServerPlan plan = plan(portal("127.0.0.1", 0, certificates.own("server")));
        String readable = "portal 127.0.0.1:0: key file " + key
                + " can be read by other users; chmod 600 it";
        try (StorageServer server = StorageServer.start(plan, listener)) {
            assertThat(warnings).containsExactly(readable);
            server.reload(plan);
            assertThat(warnings).containsExactly(readable, readable);
        }
    }

    @Test
    void shouldRefuseToStartOrReloadWithWrongFiles() throws Exception {
        ServerPlan right = plan(portal("127.0.0.1", 0, certificates.own("server")));
        ServerPlan wrong = plan(portal("127.0.0.1", 0,
                TlsFiles.of(folder.resolve("none.pem"), certificates.file("server.key"))));
        assertThatThrownBy(() -> StorageServer.start(wrong, listener))
                .isInstanceOf(InvalidPlanException.class)
                .hasMessageContainingAll("portal 127.0.0.1:0: ", "none.pem");
        try (StorageServer server = StorageServer.start(right, listener)) {
            assertThatThrownBy(() -> server.reload(wrong))
                    .isInstanceOf(InvalidPlanException.class)
                    .hasMessageContainingAll("portal 127.0.0.1:0: ", "none.pem");
        }
        assertThat(warnings).isEmpty();
    }

    @Test
    void shouldCheckPortalsOneByOne() throws Exception {
        ServerPlan.Listen missing = portal("::1", 3261, certificates.own("none"));
        ServerPlan.Listen right = portal("127.0.0.1", 3261, certificates.own("server"));
        ServerPlan.Listen old = portal("127.0.0.1", 3262, expired());
        var check = new PlanCheck(plan(missing, right, old), listener);
        assertThatThrownBy(() -> check.portal(missing)).isInstanceOf(InvalidPlanException.class)
                .hasMessageStartingWith("portal [::1]:3261: ").hasMessageContaining("none.pem");
        check.portal(right);
        check.portal(ServerPlan.Listen.on("127.0.0.1", 3260).withTls(certificates.own("none")));
        assertThat(warnings).isEmpty();
        check.portal(old);
        assertThat(warnings).singleElement().asString()
                .startsWith("portal 127.0.0.1:3262: the certificate in "
                        + certificates.file("expired.pem") + " expired on 2021-");
    }
}
