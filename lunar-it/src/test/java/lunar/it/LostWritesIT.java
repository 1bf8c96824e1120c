package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Devices;
import lunar.block.StorageException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests a server process whose fdatasync fails once, as Linux reports a failed writeback once, with two hosts: the loss
 * must be reported to both until an operator accepts it.
 */
class LostWritesIT {
    private static final String TARGET = "iqn.2026-11.org.lunar:lost";

    @TempDir
    Path folder;

    private Path image = Path.of("");
    private FailingSync failing;

    @BeforeEach
    void make() throws Exception {
        image = folder.resolve("disk.img");
        Files.createFile(image);
        failing = new FailingSync(folder, image);
    }

    private ServeProcess serve(String io, Map<String, String> environment)
            throws Exception { return new ServeProcess(folder, """
                    portals = ["127.0.0.1:0"]
                    [[target]]
                    iqn = "%s"
                    luns = ["file:%s?size=8MiB&io=%s"]
                    """.formatted(TARGET, image, io), 1, environment); }

    private static BlockDevice host(ServeProcess server, String name) throws Exception {
        return Devices.open(server.url(0, TARGET, 0) + "?initiator=iqn.2026-11.org.host:" + name);
    }

    private static void assertLost(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(StorageException.class)
                .hasMessageContaining("write error");
    }

    @ParameterizedTest
    @ValueSource(strings = {"buffered", "mapped", "direct", "sendfile", "sync"})
    void shouldReportAFailedWritebackToEveryHost(String io) throws Exception {
        try (var server = serve(io, failing.environment());
                BlockDevice one = host(server, "one");
                BlockDevice two = host(server, "two");
                Arena arena = Arena.ofShared()) {
            MemorySegment data = arena.allocate(4096, 4096);
            one.write(0, data);
            two.write(8, data);
            one.flush();
            two.flush();
            failing.arm();
            if (io.equals("sync")) { // a write is a flush, too
                assertLost(() -> one.write(16, data));
            } else {
                one.write(16, data);
                two.write(24, data);
                assertLost(one::flush);
            }
            assertThat(failing.hasFailed()).isTrue();
            assertLost(two::flush);
            assertLost(one::flush);
            assertLost(() -> two.writeThrough(32, data));
            assertLost(() -> one.writeThrough(40, data));
            two.read(16, data);
            assertThat(server.errors()).contains("lunar accept-loss file:" + image.toRealPath());
            assertThat(server.stop()).as("exit status of a server that cannot flush").isEqualTo(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"buffered", "direct"})
    void shouldNotLetAWriteWithFuaConsumeTheError(String io) throws Exception {
        try (var server = serve(io, failing.environment());
                BlockDevice one = host(server, "one");
                BlockDevice two = host(server, "two");
                Arena arena = Arena.ofShared()) {
            MemorySegment data = arena.allocate(512, 4096);
            one.write(0, data);
            failing.arm();
            assertLost(() -> two.execute(new BlockRequest().asWriteZeroes(8, 1, true)));
            assertThat(failing.hasFailed()).isTrue();
            assertLost(one::flush);
            assertLost(one::flush);
            server.kill();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldRememberItAfterARestartUntilTheLossIsAccepted(boolean killed) throws Exception {
        try (var server = serve("buffered", failing.environment());
                BlockDevice one = host(server, "one");
                Arena arena = Arena.ofShared()) {
            one.write(0, arena.allocate(4096, 4096));
            failing.arm();
            assertLost(one::flush);
            if (killed) {
                server.kill();
            } else {
                assertThat(server.stop()).isEqualTo(1);
            }
        }
        try (var server = serve("buffered", Map.of()); BlockDevice two = host(server, "two")) {
            assertLost(two::flush);
            assertThat(Peer.run(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-cp", System.getProperty("java.class.path"), "lunar.cli.Main", "accept-loss",
                    "file:" + image).succeeded().output()).contains("accepted");
            two.flush();
            two.flush();
        }
        try (var server = serve("buffered", Map.of()); BlockDevice two = host(server, "two")) {
            two.flush();
        }
    }
}
