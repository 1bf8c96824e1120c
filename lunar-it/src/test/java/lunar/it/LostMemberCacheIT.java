package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.block.LostWritesException;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Creation;
import lunar.raid.service.RunOptions;
import lunar.raid.service.RunningVolume;
import lunar.raid.service.VolumeHealth;
import lunar.raid.service.VolumeSpec;
import lunar.testkit.FreePorts;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests volumes of iSCSI members whose targets are processes with a volatile write cache, killed and restarted within
 * the time that requests wait for a path.
 */
class LostMemberCacheIT {
    private static final String IQN = "iqn.2026-11.org.lunar:member";
    private static final int MEMBERS = 3;
    private static final int WRITES = 16;
    private static final int MAX_ROUNDS = 10;
    /** So that each write is in a chunk of its own. */
    private static final long STEP = 129;

    @TempDir
    private Path folder;

    /** {@code lunar serve volatile:file:...}, at one port for as long as the test lasts. */
    private final class Target {
        private final int port;
        private final String store;
        private Process process;

        Target(int number) throws IOException {
            port = FreePorts.one();
            store = "volatile:file:" + folder.resolve("m" + number) + "?size=16MiB";
            process = start();
        }

        private Process start() throws IOException {
            Process started = new ProcessBuilder(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED", "-cp",
                    System.getProperty("java.class.path"), "lunar.cli.Main", "serve", store,
                    "--portal", "127.0.0.1:" + port, "--iqn", IQN)
                    .redirectError(folder.resolve("errors-" + port).toFile()).start();
            assertThat(started.inputReader().readLine()).startsWith("serving " + IQN);
            return started;
        }

        /** Patient enough for a target that takes its time to start. */
        String uri() {
            return "iscsi://127.0.0.1:" + port + "/" + IQN + "/0?no-path-retry=150";
        }

        void kill() throws InterruptedException {
            process.destroyForcibly();
            assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
        }

        void restart() throws IOException { process = start(); }
    }

    private final List<Target> targets = new ArrayList<>();

    private RunningVolume created(Level level) throws Exception {
        var members = new ArrayList<Creation.Member>();
        for (int i = 0; i < MEMBERS; i++) {
            var target = new Target(i);
            targets.add(target);
            members.add(new Creation.Member(target.uri(), UUID.randomUUID(),
                    Devices.open(target.uri())));
        }
        Creation.create(Creation.Wish.of(UUID.randomUUID(), "vol", 0, level, UUID.randomUUID()),
                members, false);
        for (Creation.Member one : members) {
            one.device().close();
        }
        RunningVolume volume = RunningVolume.open(
                new VolumeSpec(level, "vol", targets.stream().map(Target::uri).toList(),
                        List.of(), Optional.empty(), RunOptions.DEFAULT),
                Devices::open);
        awaitClean(volume); // the first resync flushes the members at its end, and makes writes stable by that
        return volume;
    }

    private static void write(BlockDevice device, int content) throws Exception {
        for (int i = 0; i < WRITES; i++) {
            MemorySegment block = MemorySegment.ofArray(new byte[512]);
            block.fill((byte) content);
            device.write(i * STEP, block);
        }
    }

    private static byte[] read(BlockDevice device, long lba) throws Exception {
        MemorySegment block = MemorySegment.ofArray(new byte[512]);
        device.read(lba, block);
        return block.toArray(ValueLayout.JAVA_BYTE);
    }

    private static void awaitClean(RunningVolume volume) throws InterruptedException {
        for (int i = 0; i < 3000 && volume.status().health() != VolumeHealth.CLEAN; i++) {
            TimeUnit.MILLISECONDS.sleep(100);
        }
        assertThat(volume.status().health()).isEqualTo(VolumeHealth.CLEAN);
    }

    private static void scrub(RunningVolume volume) throws Exception {
        assertThat(volume.scrub(false)).isTrue();
        for (int i = 0; i < 3000 && volume.status().lastScrub().isEmpty(); i++) {
            TimeUnit.MILLISECONDS.sleep(100);
        }
        assertThat(volume.status().lastScrub().orElseThrow().mismatches()).isZero();
    }

    /** Returns why the flush after a power failure fails; null if it succeeds, and then nothing may be lost. */
    private @Nullable Throwable lossOfAll(RunningVolume volume) throws Exception {
        write(volume, 1);
        volume.flush();
        write(volume, 2);
        for (Target target : targets) {
            target.kill();
        }
        for (Target target : targets) {
            target.restart();
        }
        Throwable loss = catchThrowable(volume::flush);
        if (loss == null) {
            awaitClean(volume);
            for (int i = 0; i < WRITES; i++) {
                assertThat(read(volume, i * STEP)).as("block %d", i).containsOnly(2);
            }
        }
        return loss;
    }

    private void endAll() throws InterruptedException {
        for (Target target : targets) {
            target.kill();
        }
    }

    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID1", "RAID5"})
    void shouldKeepWhatOneMemberHasLost(Level level) throws Exception {
        try (var volume = created(level)) {
            write(volume, 1);
            volume.flush();
            write(volume, 2);
            targets.get(1).kill();
            targets.get(1).restart();
            for (int round = 0; round < 4; round++) { // of a mirror each copy is read some time
                for (int i = 0; i < WRITES; i++) {
                    assertThat(read(volume, i * STEP)).as("block %d", i).containsOnly(2);
                }
            }
            volume.flush();
            awaitClean(volume);
            for (int i = 0; i < WRITES; i++) {
                assertThat(read(volume, i * STEP)).as("block %d", i).containsOnly(2);
            }
            scrub(volume);
        } finally {
            endAll();
        }
    }

    /**
     * A power failure of the rack: more is lost than the level survives, and the host gets an error; unless the volume,
     * which flushes its members from time to time, has just done that.
     */
    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID1", "RAID5", "RAID0"})
    void shouldReportToTheHostTheLossOfAllMembers(Level level) throws Exception {
        try (var volume = created(level)) {
            Throwable loss = null;
            for (int round = 0; round < MAX_ROUNDS && loss == null; round++) {
                loss = lossOfAll(volume);
            }
            assertThat(loss).isInstanceOf(LostWritesException.class);
            volume.flush();
            awaitClean(volume);
            for (int i = 0; i < WRITES; i++) {
                byte[] block = read(volume, i * STEP);
                assertThat(block).as("block %d", i).containsOnly(block[0]);
                assertThat(block[0]).isIn((byte) 1, (byte) 2);
                assertThat(read(volume, i * STEP + 1)).as("beside it").containsOnly(0);
            }
            write(volume, 3);
            volume.flush();
            if (level != Level.RAID0) {
                scrub(volume);
            }
        } finally {
            endAll();
        }
    }
}
