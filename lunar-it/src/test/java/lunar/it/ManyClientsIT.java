package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import lunar.block.StorageException;
import lunar.testkit.Seed;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests eight foreign clients at once, and clients that are killed during I/O: no client's data may be damaged. */
class ManyClientsIT {
    private static final int CLIENTS = 8;
    private static final int AREA_MIB = 16;
    private static final Duration BOUND = Duration.ofMinutes(5);

    @TempDir
    Path folder;

    @BeforeEach
    void needTools() { Peer.assume("qemu-img", "qemu-io"); }

    private static Peer convert(Path from, String to, String... options) throws Exception {
        var line = new ArrayList<>(List.of("qemu-img", "convert", "-n", "-f", "raw", "-O", "raw"));
        line.addAll(List.of(options));
        line.addAll(List.of(from.toString(), to));
        return Peer.start(line.toArray(String[]::new));
    }

    private static void assertIdentical(Path image, String lun) throws Exception {
        assertThat(Peer.run(BOUND, "qemu-img", "compare", "-f", "raw", "-F", "raw",
                image.toString(), lun).succeeded().output()).contains("Images are identical.");
    }

    @Test
    void shouldKeepDataOfClientsOnTheirOwnLunsApart() throws Exception {
        long seed = Seed.next();
        String[] luns = Collections.nCopies(CLIENTS, "ram:" + AREA_MIB + "MiB")
                .toArray(String[]::new);
        try (ServedTarget target = ServedTarget.of(luns)) {
            var images = new ArrayList<Path>();
            for (int i = 0; i < CLIENTS; i++) {
                images.add(RandomImage.write(folder.resolve(i + ".img"), (long) AREA_MIB << 20,
                        seed + i));
            }
            var clients = new ArrayList<Peer>();
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(convert(images.get(i), target.url(i)));
            }
            endWell(clients);
            for (int i = 0; i < CLIENTS; i++) {
                assertIdentical(images.get(i), target.url(i));
            }
        }
    }

    @Test
    void shouldKeepDataOfClientsOnAreasOfOneLunApart() throws Exception {
        try (ServedTarget target = ServedTarget.of("ram:" + CLIENTS * AREA_MIB + "MiB")) {
            var clients = new ArrayList<Peer>();
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(patterns(target, i));
            }
            for (Peer.Result result : endWell(clients)) {
                assertThat(result.output()).doesNotContain("verification failed");
            }
            for (int i = 0; i < CLIENTS; i++) { // and none has written into another's area later
                assertThat(firstByteThatDiffers(target, i)).as("area " + i).isEqualTo(-1);
            }
        }
    }

    /** Writes an area in pieces, several in flight, with two patterns one after the other; reads it back. */
    private static Peer patterns(ServedTarget target, int area) throws Exception {
        var line = new ArrayList<>(List.of("qemu-io", "-f", "raw"));
        for (int round = 0; round < 2; round++) {
            for (int mib = area * AREA_MIB; mib < (area + 1) * AREA_MIB; mib++) {
                line.add("-c");
                line.add("aio_write -P " + pattern(area, round) + " " + mib + "M 1M");
            }
            line.addAll(List.of("-c", "aio_flush", "-c", "read -P " + pattern(area, round) + " "
                    + area * AREA_MIB + "M " + AREA_MIB + "M"));
        }
        line.add(target.url(0));
        return Peer.start(line.toArray(String[]::new));
    }

    private static int pattern(int area, int round) { return 1 + area + round * 16; }

    private static long firstByteThatDiffers(ServedTarget target, int area)
            throws StorageException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment wanted = arena.allocate(1 << 20).fill((byte) pattern(area, 1));
            MemorySegment read = arena.allocate(1 << 20);
            int blockSize = target.device(0).blockSize();
            for (long mib = (long) area * AREA_MIB; mib < (area + 1L) * AREA_MIB; mib++) {
                target.device(0).read((mib << 20) / blockSize, read);
                long at = read.mismatch(wanted);
                if (at >= 0) {
                    return (mib << 20) + at;
                }
            }
            return -1;
        }
    }

    @Test
    void shouldServeOthersWhenClientIsKilled() throws Exception {
        Path image = RandomImage.write(folder.resolve("a.img"), 64 << 20, Seed.next());
        try (ServedTarget target = ServedTarget.of("ram:64MiB", "ram:64MiB");
                Peer other = convert(image, target.url(1), "-r", "24M")) {
            for (int i = 0; i < 3; i++) {
                target.device(0).writeZeroes(0, target.device(0).blockCount());
                try (Peer victim = convert(image, target.url(0), "-r", "2M")) {
                    ServedTarget.await("the client writes", () -> hasData(target));
                    assertThat(victim.isAlive()).isTrue();
                    victim.kill();
                }
            }
            other.await(BOUND).succeeded();
            assertIdentical(image, target.url(1));
            ServedTarget.await("the killed clients' sessions end",
                    () -> target.server().sessionCount() == 0);
            try (Peer next = convert(image, target.url(0))) {
                next.await(BOUND).succeeded();
            }
            assertIdentical(image, target.url(0));
        }
    }

    private static boolean hasData(ServedTarget target) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment first = arena.allocate(target.device(0).blockSize());
            target.device(0).read(0, first);
            return first.get(ValueLayout.JAVA_LONG, 0) != 0;
        } catch (StorageException e) {
            throw new AssertionError(e);
        }
    }

    private static List<Peer.Result> endWell(List<Peer> clients) throws Exception {
        var results = new ArrayList<Peer.Result>();
        try {
            for (Peer client : clients) {
                results.add(client.await(BOUND).succeeded());
            }
        } finally {
            for (Peer client : clients) {
                client.close();
            }
        }
        return results;
    }
}
