package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.iscsi.spi.Transports;
import lunar.store.MemoryDevice;
import lunar.target.PortalSpec;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;
import lunar.testkit.FreePorts;
import lunar.testkit.TestCertificates;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests iSCSI over TLS with peers that know no TLS, behind stunnel (OpenSSL). */
class StunnelIT {
    private static final String TARGET = "iqn.2026-11.org.lunar:stunnel";
    private static final int TRIES = 2_000;

    @TempDir
    Path directory;
    private TestCertificates certificates;

    @BeforeEach
    void needStunnel() {
        Peer.assume("stunnel4");
        certificates = TestCertificates.in(directory);
    }

    /** Starts stunnel with a service; waits until it accepts connections. */
    private Peer stunnel(int port, String... service) throws Exception {
        Path file = Files.writeString(directory.resolve("stunnel.conf"), "foreground = yes\npid =\n"
                + "sslVersion = TLSv1.3\n[iscsi]\naccept = 127.0.0.1:" + port + "\n"
                + String.join("\n", service) + "\n");
        Peer stunnel = Peer.start("stunnel4", file.toString());
        for (int i = 0; i < TRIES && stunnel.isAlive(); i++) {
            try (var socket = new Socket()) {
                socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                return stunnel;
            } catch (IOException _) {
                LockSupport.parkNanos(25_000_000); // not yet
            }
        }
        try (stunnel) {
            stunnel.kill();
            throw new AssertionError("stunnel does not start: "
                    + stunnel.await(Duration.ofMinutes(1)));
        }
    }

    @Test
    void shouldServeLibiscsiAndQemuThroughStunnel() throws Exception {
        Peer.assume("iscsi-inq", "qemu-io");
        int port = FreePorts.one();
        try (TargetServer server = TargetServer.builder()
                .portal(PortalSpec.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                        .withTransport(Transports.ISCSIS)
                        .withTls(certificates.own("server")
                                .withAuthorities(certificates.file("ca.pem"))))
                .target(TargetSpec.of(TARGET).withLun(0, MemoryDevice.create(64L << 20, 512)))
                .start();
                Peer _ = stunnel(port, "client = yes",
                        "connect = 127.0.0.1:" + server.portals().getFirst().getPort(),
                        "CAfile = " + certificates.file("ca.pem"), "verifyChain = yes",
                        "checkIP = 127.0.0.1", "cert = " + certificates.file("client.pem"),
                        "key = " + certificates.file("client.key"))) {
            String url = "iscsi://127.0.0.1:" + port + "/" + TARGET + "/0";
            assertThat(Peer.run("iscsi-inq", url).succeeded().output()).contains("LUNAR");
            Peer.Result io = Peer.run("qemu-io", "-f", "raw", "-c", "write -P 17 0 4k", "-c",
                    "write -P 18 4k 1M", "-c", "write -P 19 40M 8M", "-c", "flush", "-c",
                    "read -P 17 0 4k", "-c", "read -P 18 4k 1M", "-c", "read -P 19 40M 8M", url);
            assertThat(io.succeeded().output()).doesNotContain("verification failed")
                    .doesNotContain("failed:").doesNotContain("error");
        }
    }

    @Test
    void shouldUseTgtdThroughStunnel() throws Exception {
        int port = FreePorts.one();
        try (Tgtd tgtd = Tgtd.start(directory);
                Peer _ = stunnel(port, "connect = 127.0.0.1:" + tgtd.port(),
                        "cert = " + certificates.file("server.pem"),
                        "key = " + certificates.file("server.key"),
                        "CAfile = " + certificates.file("ca.pem"), "verifyChain = yes")) {
            tgtd.addTarget("stunnel", 16 << 20);
            try (BlockDevice device = Devices.open("iscsis://127.0.0.1:" + port + "/"
                    + Tgtd.name("stunnel") + "/1?connect-timeout=60s&login-timeout=60s"
                    + "&tls-ca=" + certificates.file("ca.pem")
                    + "&tls-certificate=" + certificates.file("client.pem") + "&tls-key="
                    + certificates.file("client.key"));
                    Arena arena = Arena.ofConfined()) {
                MemorySegment written = arena.allocate(4 << 20).fill((byte) 0x5a);
                MemorySegment read = arena.allocate(4 << 20);
                device.write(100, written);
                device.flush();
                device.read(100, read);
                assertThat(read.mismatch(written)).isEqualTo(-1);
            }
        }
    }
}
