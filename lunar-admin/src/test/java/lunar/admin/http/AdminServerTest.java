package lunar.admin.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import lunar.admin.AdminOptions;
import lunar.admin.AdminServer;
import lunar.admin.client.AdminClient;
import lunar.admin.client.UnreachableException;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Tests the admin API of a server that is in use, and who may use it. */
@Timeout(600)
class AdminServerTest {
    @TempDir
    Path folder;

    @Test
    void shouldTellWhatIsServedToWhom() throws Exception {
        try (var fixture = new AdminFixture(folder);
                BlockDevice disk = Devices.open(fixture.uri())) {
            disk.write(3, MemorySegment.ofArray(new byte[1024]));
            disk.read(3, MemorySegment.ofArray(new byte[512]));
            JsonNode status = fixture.client().get("/v1/status");
            assertThat(status.path("status").asString()).isEqualTo("ok");
            assertThat(status.path("sessions").asInt()).isEqualTo(1);
            assertThat(status.path("luns").asInt()).isEqualTo(1);
            JsonNode session = fixture.client().get("/v1/sessions").path("sessions").path(0);
            assertThat(session.path("target").asString()).isEqualTo(AdminFixture.IQN);
            assertThat(session.path("connections").path(0).path("initiator").asString())
                    .startsWith("127.0.0.1:");
            assertThat(fixture.client().get("/v1/sessions/" + session.path("tsih").asInt())
                    .path("initiator")).isEqualTo(session.path("initiator"));
            JsonNode unit = fixture.client().get("/v1/luns").path("luns").path(0);
            assertThat(unit.path("uri").asString()).isEqualTo("ram:1MiB");
            assertThat(unit.path("commands").path("writtenBytes").asLong()).isEqualTo(1024);
            assertThat(unit.path("commands").path("reads").asLong()).isPositive();
            assertThat(fixture.client().get("/v1/volumes").path("volumes").size()).isZero();
        }
    }

    @Test
    void shouldLogOutASession() throws Exception {
        try (var fixture = new AdminFixture(folder);
                BlockDevice _ = Devices.open(fixture.uri())) {
            int tsih = fixture.client().get("/v1/sessions").path("sessions").path(0).path("tsih")
                    .asInt();
            assertThat(fixture.client().delete("/v1/sessions/" + tsih).path("ended").asBoolean())
                    .isTrue();
            assertThatThrownBy(() -> fixture.client().delete("/v1/sessions/65534"))
                    .hasMessageContaining("no session has this TSIH");
        }
    }

    @Test
    void shouldReloadOrSayWhyNot() throws Exception {
        try (var fixture = new AdminFixture(folder)) {
            assertThat(fixture.client().post("/v1/reload").path("changes").path(0).asString())
                    .isEqualTo("serving one more");
            fixture.refusal = "line 3: unknown key";
            assertThatThrownBy(() -> fixture.client().post("/v1/reload"))
                    .isInstanceOf(IOException.class).hasMessage("line 3: unknown key");
        }
    }

    @Test
    void shouldNotInterruptAReloadWhenItStops() throws Exception {
        var begun = new CountDownLatch(1);
        var stopped = new CountDownLatch(1);
        var undisturbed = new CompletableFuture<Boolean>();
        try (var fixture = new AdminFixture(folder)) {
            fixture.reloading = () -> {
                begun.countDown();
                try {
                    undisturbed.complete(stopped.await(120, TimeUnit.SECONDS));
                } catch (InterruptedException _) {
                    undisturbed.complete(false);
                }
            };
            Thread client = Thread.ofVirtual().start(() -> {
                try {
                    fixture.client().post("/v1/reload");
                } catch (IOException _) {
                    // closed without a response
                }
            });
            begun.await();
            fixture.admin.close();
            stopped.countDown();
            assertThat(undisturbed.get()).isTrue();
            client.join();
        }
    }

    @Test
    void shouldBeForItsUserOnly() throws Exception {
        try (var fixture = new AdminFixture(folder)) {
            assertThat(PosixFilePermissions
                    .toString(Files.getPosixFilePermissions(fixture.socket)))
                    .isEqualTo("rw-------");
        }
        assertThat(folder.resolve("admin.sock")).doesNotExist();
        var lookup = folder.getFileSystem().getUserPrincipalLookupService();
        var nobody = lookup.lookupPrincipalByName("nobody");
        var root = lookup.lookupPrincipalByName("root");
        assertThat(OwnerOnly.admits(nobody, root)).isFalse();
        assertThat(OwnerOnly.admits(root, nobody)).isTrue();
        assertThat(OwnerOnly.admits(nobody, nobody)).isTrue();
    }

    @Test
    void shouldRequireTheTokenOverTcp() throws Exception {
        try (var fixture = new AdminFixture(folder)) {
            assertThat(fixture.overTcp(AdminFixture.TOKEN).get("/v1/status").path("luns").asInt())
                    .isEqualTo(1);
            for (String wrong : new String[]{"", "a-token-of-the-test", "a-token-of-the-tests2"}) {
                assertThatThrownBy(() -> fixture.overTcp(wrong).get("/v1/status"))
                        .hasMessageContaining("bearer token");
                assertThatThrownBy(() -> fixture.overTcp(wrong).post("/v1/reload"))
                        .hasMessageContaining("bearer token");
            }
            assertThat(fixture.overTcp("").get("/healthz").path("ok").asBoolean()).isTrue();
            assertThat(fixture.overTcp("").get("/readyz").path("ok").asBoolean()).isTrue();
        }
    }

    @Test
    void shouldRefuseATokenThatOthersCanRead() throws Exception {
        Path file = AdminFixture.token(folder);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        assertThatThrownBy(() -> AdminServer.checkToken(file)).hasMessageContaining("chmod 600")
                .hasMessageNotContaining(AdminFixture.TOKEN);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        Files.writeString(file, "short");
        assertThatThrownBy(() -> AdminServer.checkToken(file)).hasMessageContaining("16");
        assertThatThrownBy(() -> AdminServer.checkToken(folder.resolve("none")))
                .hasMessageContaining("does not exist");
        Files.writeString(file, "a-token-of-the-t\u00e9sts");
        assertThatThrownBy(() -> AdminServer.checkToken(file)).hasMessageContaining("ASCII");
        assertThatThrownBy(() -> AdminServer.checkToken(
                Files.createDirectory(folder.resolve("directory"),
                        PosixFilePermissions.asFileAttribute(
                                PosixFilePermissions.fromString("rwx------")))))
                .hasMessageStartingWith("cannot read the token file");
    }

    @Test
    void shouldRefuseATokenOfAnotherUser() throws Exception {
        assumeThat(OwnerOnly.user().getName()).isEqualTo("root");
        Path file = AdminFixture.token(folder);
        Files.setOwner(file, folder.getFileSystem().getUserPrincipalLookupService()
                .lookupPrincipalByName("nobody"));
        assertThatThrownBy(() -> AdminServer.checkToken(file))
                .hasMessageContaining("belongs to user nobody");
    }

    @Test
    void shouldNotListenForOtherMachinesUnlessToldTo() throws Exception {
        try (var fixture = new AdminFixture(folder)) {
            var options = new AdminOptions(Optional.empty(),
                    Optional.of(new InetSocketAddress("0.0.0.0", 0)),
                    Optional.of(folder.resolve("token")), false);
            assertThatThrownBy(() -> AdminServer.start(options, fixture.subject()))
                    .hasMessageContaining("allow-remote");
            var without = new AdminOptions(Optional.empty(),
                    Optional.of(AdminFixture.loopback()), Optional.empty(), false);
            assertThatThrownBy(() -> AdminServer.start(without, fixture.subject()))
                    .hasMessageContaining("token-file");
        }
    }

    @Test
    void shouldReplaceTheSocketOfAKilledServerOnly() throws Exception {
        Path dead = folder.resolve("admin.sock");
        try (var killed = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            killed.bind(UnixDomainSocketAddress.of(dead)); // closed, the file stays
        }
        try (var fixture = new AdminFixture(folder)) {
            assertThat(fixture.client().get("/healthz").path("ok").asBoolean()).isTrue();
            assertThatThrownBy(
                    () -> AdminServer.start(AdminOptions.ofSocket(dead), fixture.subject()))
                    .hasMessageContaining("another server");
            assertThat(fixture.client().get("/healthz").path("ok").asBoolean()).isTrue();
        }
        assertThatThrownBy(() -> AdminClient.of(dead).get("/healthz"))
                .isInstanceOf(UnreachableException.class);
    }

    @Test
    void shouldRefuseRequestsThatAreTooLongOrMalformed() throws Exception {
        try (var fixture = new AdminFixture(folder)) {
            String line = "GET /v1/status HTTP/1.1\r\nHost: localhost\r\n";
            assertThat(raw(fixture, "GET /" + "x".repeat(10_000) + " HTTP/1.1\r\n\r\n"))
                    .doesNotContain(" 200 ");
            assertThat(raw(fixture, line + "X: " + "x".repeat(20_000) + "\r\n\r\n"))
                    .doesNotContain(" 200 ");
            assertThat(raw(fixture, "POST /v1/reload HTTP/1.1\r\nHost: localhost\r\n"
                    + "Content-Length: 10000000\r\nConnection: close\r\n\r\n"))
                    .contains(" 413 ");
            assertThat(raw(fixture, "nonsense\r\n\r\n")).doesNotContain(" 200 ");
            assertThatThrownBy(() -> fixture.client().get("/v1/nothing"))
                    .hasMessageContaining("no such route");
            assertThat(fixture.client().get("/healthz").path("ok").asBoolean()).isTrue();
        }
    }

    private static String raw(AdminFixture fixture, String request) throws IOException {
        try (var channel = SocketChannel.open(UnixDomainSocketAddress.of(fixture.socket))) {
            ByteBuffer out = ByteBuffer.wrap(request.getBytes(StandardCharsets.US_ASCII));
            while (out.hasRemaining()) {
                channel.write(out);
            }
            var in = ByteBuffer.allocate(64 << 10);
            while (in.hasRemaining() && channel.read(in) >= 0) {
            }
            return StandardCharsets.US_ASCII.decode(in.flip()).toString();
        } catch (IOException e) {
            return ""; // closed before all was read
        }
    }
}
