package lunar.it;

import static org.assertj.core.api.Assertions.assertThatIOException;

import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.OptionalInt;
import lunar.block.Devices;
import lunar.iscsi.spi.Transports;
import lunar.server.LunRequest;
import lunar.server.ServerPlan;
import lunar.server.StorageServer;
import lunar.store.MemoryDevice;
import lunar.target.PortalSpec;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;
import lunar.testkit.TestCertificates;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a portal with TLS does not depend on its files where it is not to read them. */
class TlsReloadTest {
    private static final String TARGET = "iqn.2026-11.org.lunar:tls";

    @TempDir
    Path directory;
    private TestCertificates certificates;

    @BeforeEach
    void writeFiles() { certificates = TestCertificates.in(directory); }

    private void logIn(int port, int lun) throws Exception {
        Devices.open("iscsis://127.0.0.1:" + port + "/" + TARGET + "/" + lun
                + "?connect-timeout=60s&login-timeout=60s&tls-ca=" + certificates.file("ca.pem"))
                .close();
    }

    private static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    private static TargetServer.Builder target() {
        return TargetServer.builder()
                .target(TargetSpec.of(TARGET).withLun(0, MemoryDevice.create(1 << 20, 512)));
    }

    @Test
    void shouldListenAgainWithTheCertificateInUseWhenAChangeFails() throws Exception {
        PortalSpec secure = PortalSpec.of(loopback(0)).withTransport(Transports.ISCSIS)
                .withTls(certificates.own("server"));
        try (TargetServer server = target().portal(secure).start();
                var foreign = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            int port = server.portals().getFirst().getPort();
            Files.delete(certificates.file("server.pem"));
            Files.delete(certificates.file("server.key"));
            TargetServer.Builder wanted = target().portal(PortalSpec.of(loopback(port)))
                    .portal(PortalSpec.of(loopback(foreign.getLocalPort())));
            assertThatIOException().isThrownBy(() -> server.reconfigure(wanted))
                    .isInstanceOf(BindException.class);
            logIn(port, 0);
        }
    }

    @Test
    void shouldChangeLunsWhileACertificateIsBeingReplaced() throws Exception {
        var plan = ServerPlan.of(List.of(ServerPlan.Listen.on("127.0.0.1", 0)
                .withTransport(Transports.ISCSIS).withTls(certificates.own("server"))),
                List.of(ServerPlan.Target.of(TARGET, List.of("ram:1MiB"))));
        try (StorageServer server = StorageServer.start(plan)) {
            int port = server.portals().getFirst().getPort();
            Files.copy(certificates.file("other.pem"), certificates.file("server.pem"),
                    StandardCopyOption.REPLACE_EXISTING); // and not yet its key
            var _ = server.change(new LunRequest.Add(TARGET, OptionalInt.of(1),
                    ServerPlan.Lun.of("ram:1MiB")));
            logIn(port, 1);
        }
    }
}
