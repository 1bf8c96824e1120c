package lunar.raid.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import lunar.block.StorageException;
import lunar.raid.OwnershipOptions;
import lunar.raid.layout.Level;
import lunar.raid.metadata.DegradedStart;
import lunar.testkit.Seed;
import org.junit.jupiter.api.AfterEach;

/** A running volume on a shelf of disks, and what is known to be on it. */
abstract class RunningFixture {
    static final int MEMBER_BYTES = 4 << 20;
    static final int BLOCK = 512;
    private static final long WAIT_NS = Duration.ofSeconds(120).toNanos();
    private static final RunTiming QUICK = new RunTiming(Duration.ofMillis(5), 2,
            Duration.ofMillis(5), Duration.ofMillis(40), Duration.ZERO, Duration.ofSeconds(20),
            Duration.ofSeconds(20));
    /** These disks support no COMPARE AND WRITE, and no other process starts a volume of them at the same time. */
    private static final OwnershipOptions ALONE = new OwnershipOptions(Duration.ofSeconds(2),
            Duration.ofSeconds(6), Duration.ofSeconds(12), Duration.ZERO, false, true);
    static final RunOptions OPTIONS = RunOptions.DEFAULT.withTiming(QUICK).withOwnership(ALONE);

    final long seed = Seed.next();
    final Random random = new Random(seed);
    final Shelf shelf = new Shelf(new Random(seed + 1));
    EventLog events = new EventLog();
    VolumeSpec spec;
    RunningVolume volume;
    byte[] content;

    final void create(Level level, int members) throws StorageException {
        spec = shelf.create(level, "music", members, MEMBER_BYTES, OPTIONS);
        open();
        content = new byte[(int) volume.sizeBytes()];
        fill(0, content.length);
    }

    final void open() throws StorageException {
        events = new EventLog();
        volume = RunningVolume.open(spec, shelf, List.of(), events);
    }

    /** Starts the volume although members that are away may have been used without those that are there. */
    final void openForced() throws StorageException {
        VolumeSpec whole = spec;
        spec = new VolumeSpec(whole.level(), whole.name(), whole.members(), whole.spares(),
                Optional.empty(), OPTIONS.withDegradedStart(DegradedStart.FORCED));
        open();
        spec = whole;
    }

    /** All power is cut while no disk answers any more; then the volume is started again. */
    final void crash() throws StorageException {
        shelf.pullAll();
        volume.close();
        shelf.cut();
        open();
    }

    @AfterEach
    void close() throws StorageException {
        if (volume != null) {
            volume.close();
        }
    }

    /** Random bytes from one on. */
    final void fill(int from, int bytes) throws StorageException {
        byte[] noise = new byte[bytes];
        random.nextBytes(noise);
        int step = 64 << 10;
        for (int at = 0; at < bytes; at += step) {
            int length = Math.min(step, bytes - at);
            volume.write((from + at) / BLOCK,
                    MemorySegment.ofArray(noise).asSlice(at, length));
            System.arraycopy(noise, at, content, from + at, length);
        }
    }

    final void check() throws StorageException {
        MemorySegment found = MemorySegment.ofArray(new byte[content.length]);
        volume.read(0, found);
        assertThat(found.mismatch(MemorySegment.ofArray(content))).as("seed " + seed)
                .isEqualTo(-1);
    }

    final void scrub() throws StorageException, InterruptedException {
        assertThat(volume.scrub(false)).isTrue();
        ScrubResult result = events.await(VolumeEvent.Scrubbed.class).result();
        assertThat(result.isClean()).as("seed " + seed + ": " + result).isTrue();
        assertThat(result.stripes()).isPositive();
    }

    /** A scan is there a moment after it was told of. */
    final void awaitScan(ScanKind kind) throws InterruptedException {
        long endNs = System.nanoTime() + WAIT_NS;
        while (volume.status().scans().stream().noneMatch(scan -> scan.kind() == kind)) {
            assertThat(System.nanoTime() - endNs).as("no %s in time", kind).isNegative();
            Thread.sleep(1);
        }
    }

    /** The last change of a state is stable a little after the scan that made it. */
    final void awaitHealth(VolumeHealth wanted) throws InterruptedException {
        long endNs = System.nanoTime() + WAIT_NS;
        while (volume.status().health() != wanted && System.nanoTime() - endNs < 0) {
            Thread.sleep(1);
        }
        assertThat(volume.status().health()).isEqualTo(wanted);
    }

    /** Returns why a slot has no member, once that has a part. */
    final String awaitWhy(int slot, String part) throws InterruptedException {
        long endNs = System.nanoTime() + WAIT_NS;
        while (!volume.status().slots().get(slot).why().contains(part)
                && System.nanoTime() - endNs < 0) {
            Thread.sleep(1);
        }
        return volume.status().slots().get(slot).why();
    }
}
