package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import lunar.testkit.Seed;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Kills a process that writes atomically, at moments determined by a seed: the file contains each write completely or
 * not at all.
 */
class AtomicKillTest {
    private static final int KILLS = 8;

    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource(value = FileOptions.Io.class, names = {"BUFFERED", "DIRECT"})
    void shouldKeepWritesAtomicAcrossAKill(FileOptions.Io io) throws Exception {
        Path file = folder.resolve("disk.img");
        var random = new Random(Seed.next());
        for (int kill = 0; kill < KILLS; kill++) {
            Process writer = new ProcessBuilder(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED", "-Xmx128m", "-cp", classPath(),
                    AtomicWriter.class.getName(), file.toString(), io.name())
                    .redirectError(ProcessBuilder.Redirect.INHERIT).start();
            int done = 0;
            try (BufferedReader out = writer.inputReader(StandardCharsets.UTF_8)) {
                for (int i = random.nextInt(1, 30); i > 0; i--) {
                    done = Integer.parseInt(out.readLine());
                }
                for (int spins = random.nextInt(1 << 20); spins > 0; spins--) {
                    Thread.onSpinWait(); // somewhere within the next write
                }
                writer.toHandle().destroyForcibly(); // whose output can still be read
                assertThat(writer.waitFor(60, TimeUnit.SECONDS)).isTrue();
                for (String line = out.readLine(); line != null; line = out.readLine()) {
                    done = Integer.parseInt(line);
                }
            }
            assertWhole(file, io, done);
        }
    }

    /** The writer may have been killed before it could tell of its last write. */
    private static void assertWhole(Path file, FileOptions.Io io, int done) throws Exception {
        try (FileDevice device = FileDevice.open(file, FileOptions.BUFFERED.withIo(io))) {
            MemorySegment there = Arena.ofAuto().allocate(AtomicWriter.BYTES, 4096);
            device.read(0, there);
            byte first = there.get(ValueLayout.JAVA_BYTE, 0);
            assertThat((int) first).isIn(done, done % 100 + 1);
            MemorySegment all = Arena.ofAuto().allocate(AtomicWriter.BYTES).fill(first);
            assertThat(there.mismatch(all)).isEqualTo(-1);
        }
    }

    private static String classPath() {
        String path = System.getProperty("jdk.module.path");
        return System.getProperty("java.class.path") + (path == null ? "" : ":" + path);
    }
}
