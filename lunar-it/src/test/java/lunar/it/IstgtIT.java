package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import lunar.block.BlockDevice;
import lunar.block.Capability;
import lunar.block.Devices;
import lunar.initiator.Initiator;
import lunar.iscsi.text.DiscoveredTarget;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the initiator and the commands with istgt, a target of 2011 that is still in Debian. It does not respond to
 * commands that it considers invalid, for example COMPARE AND WRITE without the W bit.
 */
class IstgtIT {
    private static final int SIZE_MIB = 64;
    private static final int WORKED_BLOCKS = 16_384;
    private static final int ROUNDS = 300;

    @TempDir
    private static Path folder;

    private static Istgt istgt;

    @BeforeAll
    static void start() throws Exception { istgt = Istgt.start(folder, SIZE_MIB); }

    @AfterAll
    static void stop() {
        if (istgt != null) {
            istgt.close();
        }
    }

    private static Peer.Result lunar(String... arguments) throws Exception {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path"), "lunar.cli.Main"));
        command.addAll(List.of(arguments));
        return Peer.run(Duration.ofMinutes(5), command.toArray(String[]::new)).succeeded();
    }

    @Test
    void shouldDiscoverItsTarget() throws Exception {
        try (var initiator = Initiator.create("iqn.2026-11.org.lunar:it")) {
            assertThat(initiator.discover(istgt.portal(0))).extracting(DiscoveredTarget::name)
                    .containsExactly(Istgt.name());
        }
    }

    @Test
    void shouldWriteAndVerify() throws Exception {
        try (BlockDevice device = Devices.open(istgt.uri())) {
            assertThat(device.sizeBytes()).isEqualTo((long) SIZE_MIB << 20);
            var enough = new AtomicBoolean();
            var work = new ArrayList<Future<Integer>>();
            for (int i = 0; i < 4; i++) {
                work.add(VerifiedWork.start(device, (long) i * WORKED_BLOCKS, WORKED_BLOCKS, i,
                        enough));
            }
            for (int i = 0; i < ROUNDS; i++) {
                device.flush();
            }
            enough.set(true);
            for (Future<Integer> each : work) {
                assertThat(each.get(60, TimeUnit.SECONDS)).isPositive();
            }
        }
    }

    @Test
    void shouldGetAnAnswerToItsProbeOfCompareAndWrite() throws Exception {
        try (BlockDevice device = Devices.open(istgt.uri())) {
            assertThat(device.capabilities()).contains(Capability.COMPARE_AND_WRITE);
            MemorySegment both = MemorySegment.ofArray(new byte[1024]);
            device.read(7, both.asSlice(0, 512));
            both.asSlice(512).fill((byte) 9);
            device.compareAndWrite(7, both);
            MemorySegment read = MemorySegment.ofArray(new byte[512]);
            device.read(7, read);
            assertThat(read.mismatch(both.asSlice(512))).isEqualTo(-1);
        }
    }

    @Test
    void shouldServeTheCommands() throws Exception {
        assertThat(lunar("info", istgt.uri()).output()).contains("64 MiB");
        byte[] content = new byte[SIZE_MIB << 20];
        new Random(7).nextBytes(content);
        Path source = Files.write(folder.resolve("source.img"), content);
        lunar("copy", source.toString(), istgt.uri(), "--verify");
        assertThat(Files.mismatch(source, istgt.disk())).isEqualTo(-1);
        assertThat(lunar("bench", istgt.uri(), "--rw", "randread", "--bs", "4k", "--qd", "8",
                "--time", "1s", "--json").output()).contains("iops");
    }
}
