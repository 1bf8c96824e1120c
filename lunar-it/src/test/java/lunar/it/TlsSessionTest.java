package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.initiator.Initiator;
import lunar.initiator.IscsiUri;
import lunar.iscsi.spi.TlsFiles;
import lunar.iscsi.spi.Transports;
import lunar.server.InvalidPlanException;
import lunar.server.ServerPlan;
import lunar.server.StorageServer;
import lunar.store.MemoryDevice;
import lunar.target.PortalSpec;
import lunar.target.ServerLimits;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;
import lunar.testkit.Seed;
import lunar.testkit.TestCertificates;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests sessions over TLS, from the initiator's URI to the portal, and what happens when the ends do not agree. */
class TlsSessionTest {
    private static final String TARGET = "iqn.2026-11.org.lunar:tls";
    private static final int BLOCK = 512;
    private static final int BLOCKS = 8 << 11;

    @TempDir
    Path directory;
    private TestCertificates certificates;

    @BeforeEach
    void writeFiles() { certificates = TestCertificates.in(directory); }

    private static TargetServer.Builder target() {
        return TargetServer.builder()
                .target(TargetSpec.of(TARGET).withLun(0,
                        MemoryDevice.create((long) BLOCKS * BLOCK, BLOCK)));
    }

    private static PortalSpec portal(TlsFiles files) {
        return PortalSpec.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .withTransport(Transports.ISCSIS).withTls(files);
    }

    private TargetServer serve(TlsFiles files) throws IOException {
        return target().portal(portal(files)).start();
    }

    private String uri(TargetServer server, String options) {
        return uri("iscsis", server.portals().getFirst().getPort(), options);
    }

    private String uri(String scheme, int port, String options) {
        return scheme + "://127.0.0.1:" + port + "/" + TARGET + "/0?command-timeout=60s"
                + "&connect-timeout=60s&login-timeout=60s" + options;
    }

    private String trusting() { return "&tls-ca=" + certificates.file("ca.pem"); }

    @ParameterizedTest
    @ValueSource(strings = {"", "&connections=2", "&sessions=2", "&data-digest=crc32c"})
    void shouldTransferVerifiedData(String options) throws Exception {
        long seed = Seed.next();
        var random = new Random(seed);
        try (TargetServer server = serve(certificates.own("server"));
                BlockDevice device = Devices.open(uri(server, trusting() + options));
                Arena arena = Arena.ofShared()) {
            MemorySegment written = arena.allocate((long) BLOCKS * BLOCK);
            for (long at = 0; at < written.byteSize(); at += Long.BYTES) {
                written.set(ValueLayout.JAVA_LONG, at, random.nextLong());
            }
            List<CompletableFuture<Void>> workers = new ArrayList<>();
            int parts = 4;
            for (int part = 0; part < parts; part++) {
                int first = part * (BLOCKS / parts);
                long partSeed = random.nextLong();
                workers.add(CompletableFuture.runAsync(
                        () -> work(device, written, first, BLOCKS / parts, partSeed),
                        Thread::startVirtualThread));
            }
            for (CompletableFuture<Void> worker : workers) {
                worker.get(300, TimeUnit.SECONDS);
            }
        }
    }

    /** Writes and reads a part in requests of many lengths, while others use theirs. */
    private static void work(BlockDevice device, MemorySegment written, int first, int count,
            long seed) {
        var random = new Random(seed);
        try (Arena arena = Arena.ofShared()) {
            for (int done = 0; done < count;) {
                int blocks = Math.min(count - done, 1 + random.nextInt(2048));
                MemorySegment data = written.asSlice((long) (first + done) * BLOCK,
                        (long) blocks * BLOCK);
                device.write(first + done, data);
                MemorySegment read = arena.allocate(data.byteSize());
                device.read(first + done, read);
                assertThat(read.mismatch(data)).as("blocks from %d, seed %d", first + done, seed)
                        .isEqualTo(-1);
                done += blocks;
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldDiscoverThePortalsWithTlsOverTls() throws Exception {
        try (TargetServer server = target().portal(portal(certificates.own("server")))
                .portal("127.0.0.1", 0).start();
                Initiator initiator = Initiator.create("iqn.2026-11.org.lunar:tls-host")) {
            var options = IscsiUri.parse(uri(server, trusting()))
                    .sessionOptions();
            assertThat(initiator.discover(options)).singleElement()
                    .satisfies(found -> assertThat(found.addresses()).singleElement()
                            .satisfies(at -> assertThat(at.port())
                                    .isEqualTo(server.portals().getFirst().getPort())));
        }
    }

    @Test
    void shouldRequireAClientsCertificate() throws Exception {
        try (TargetServer server = serve(
                certificates.own("server").withAuthorities(certificates.file("ca.pem")))) {
            String mutual = trusting() + "&tls-certificate=" + certificates.file("client.pem")
                    + "&tls-key=" + certificates.file("client.key");
            Devices.open(uri(server, mutual)).close();
            assertThatThrownBy(() -> Devices.open(uri(server, trusting()))).message()
                    .startsWith("login to " + TARGET).doesNotContain("\n");
        }
    }

    @Test
    void shouldFailSoonWithOneLineIfTheEndsDoNotAgree() throws Exception {
        try (TargetServer server = target().portal(portal(certificates.own("server")))
                .portal("127.0.0.1", 0).portal(portal(certificates.own("other"))).start()) {
            int secure = server.portals().get(0).getPort();
            int plain = server.portals().get(1).getPort();
            int other = server.portals().get(2).getPort();
            String trusting = trusting();
            String otherCa = "&tls-ca=" + certificates.file("other.pem");
            String untrusted = "no trusted CA has issued the peer's certificate";
            assertFails(uri("iscsis", secure, ""), untrusted);
            assertFails(uri("iscsis", secure, otherCa), untrusted);
            assertFails(uri("iscsis", other, otherCa), "issue one with this name or address");
            assertFails(uri("iscsis", plain, trusting), "TLS handshake with 127.0.0.1");
            assertFails(uri("iscsi", secure, ""), "uses TLS; write iscsis: instead of iscsi:");
            assertFails(uri("iscsis", secure, "&tls-ca=" + directory.resolve("absent")),
                    "absent does not exist");
            Devices.open(uri("iscsis", secure, trusting)).close();
            Devices.open(uri("iscsi", plain, "")).close();
        }
    }

    private static void assertFails(String uri, String what) {
        assertThatThrownBy(() -> Devices.open(uri)).message().contains(what)
                .startsWith("login to " + TARGET).doesNotContain("\n");
    }

    @Test
    void shouldEndAConnectionThatIsSilentInTheHandshake() throws Exception {
        ServerLimits limits = ServerLimits.DEFAULT;
        try (TargetServer server = target().portal(portal(certificates.own("server")))
                .limits(new ServerLimits(limits.maxConnections(), 500, limits.commandsPerSession(),
                        limits.immediateCommandsPerSession(), limits.maxTransferBytes(),
                        limits.maxBufferBytes(), limits.maxBufferBytesPerSession(),
                        limits.maxQueuedBytes(), limits.idleMs(), limits.abortTimeoutMs()))
                .start();
                var peer = new Socket(InetAddress.getLoopbackAddress(),
                        server.portals().getFirst().getPort())) {
            peer.setSoTimeout(60_000);
            peer.getOutputStream().write(new byte[]{0x16, 3, 1});
            ServedTarget.await("the connection", () -> server.connectionCount() == 0);
            int end;
            try {
                end = peer.getInputStream().read();
            } catch (SocketException _) {
                end = -1;
            }
            assertThat(end).isEqualTo(-1);
        }
    }

    @Test
    void shouldUseRenewedCertificatesAfterAReload() throws Exception {
        var luns = List.of("ram:1MiB");
        var plan = ServerPlan.of(List.of(ServerPlan.Listen.on("127.0.0.1", 0)
                .withTransport(Transports.ISCSIS).withTls(certificates.own("server"))),
                List.of(ServerPlan.Target.of(TARGET, luns)));
        try (StorageServer server = StorageServer.start(plan)) {
            int port = server.portals().getFirst().getPort();
            try (BlockDevice before = Devices.open(uri("iscsis", port, trusting()))) {
                replace("other.pem", "server.pem");
                assertThatThrownBy(() -> server.reload(plan))
                        .isInstanceOf(InvalidPlanException.class)
                        .hasMessageContaining("does not have the key of the first");
                replace("other.key", "server.key");
                server.reload(plan);
                assertFails(uri("iscsis", port, trusting()),
                        "no trusted CA has issued the peer's certificate");
                before.flush();
                replace("renewed.pem", "server.pem");
                replace("renewed.key", "server.key");
                server.reload(plan);
                Devices.open(uri("iscsis", port, trusting())).close();
                before.flush();
            }
            Path key = certificates.file("server.key");
            Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw--w----"));
            assertThatThrownBy(() -> server.reload(plan))
                    .isInstanceOf(InvalidPlanException.class)
                    .hasMessageContaining("can be written by other users; chmod 600 it");
        }
    }

    private void replace(String from, String to) throws IOException {
        Files.copy(certificates.file(from), certificates.file(to),
                StandardCopyOption.REPLACE_EXISTING);
    }
}
