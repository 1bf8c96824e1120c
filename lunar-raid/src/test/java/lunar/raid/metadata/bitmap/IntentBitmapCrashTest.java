package lunar.raid.metadata.bitmap;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.StorageException;
import lunar.raid.layout.Level;
import lunar.raid.metadata.QueuedDevice;
import lunar.raid.metadata.Volumes;
import lunar.raid.metadata.bitmap.IntentBitmap.Intent;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.page.PagePair;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;

/**
 * A mirror of two disks with volatile caches. The power is cut at any moment, in the middle of a request or between
 * two, and what was not flushed is there or not. Wherever the two disks differ then, the bitmap must say so.
 */
class IntentBitmapCrashTest {
    private static final VolumeRecord VOLUME = Volumes.volume(Level.RAID1, 2, Consistency.BITMAP);
    private static final int STRIPES = 48;
    private static final int REGION = 4;
    private static final long DATA_BLOCK = VOLUME.description().layout().dataBytes() / 512;
    private static final int DISK_BYTES = (int) (DATA_BLOCK
            + STRIPES * Volumes.CHUNK_BLOCKS) * 512;
    private static final int RUNS = 300;
    private static final int MAX_WRITES = 6;

    private final long seed = Seed.next();
    private final Random random = new Random(seed);
    private List<QueuedDevice> disks = new ArrayList<>();
    private IntentBitmap bitmap;
    private final boolean[] busy = new boolean[STRIPES];
    private int writes;
    private int dirtyFound;
    private int cleared;

    /** A write of one block of a stripe to both disks, after its intent. */
    private final class Write {
        private final int stripe;
        private final Intent intent = new Intent((_, failure) -> {
            if (failure == null) {
                place();
            }
        });
        private int left = 2;

        Write(int stripe) {
            this.stripe = stripe;
            busy[stripe] = true;
            writes++;
        }

        void begin() {
            if (bitmap.begin(intent.over(stripe, 1))) {
                place();
            }
        }

        void place() {
            MemorySegment data = MemorySegment.ofArray(new byte[512]);
            data.set(JAVA_LONG_UNALIGNED, 0, random.nextLong());
            for (QueuedDevice disk : disks) {
                disk.submit(new BlockRequest().asWrite(block(stripe), 1, data, false)
                        .onCompletion((_, failure) -> {
                            left--;
                            if (left == 0 && failure == null) {
                                bitmap.end(intent);
                                busy[stripe] = false;
                                writes--;
                            }
                        }));
            }
        }
    }

    private static long block(int stripe) {
        return DATA_BLOCK + (long) stripe * Volumes.CHUNK_BLOCKS;
    }

    @Test
    void shouldMarkWhateverDiffersAfterACrash() throws StorageException {
        for (int i = 0; i < 2; i++) {
            QueuedDevice disk = QueuedDevice.create(DISK_BYTES, random);
            var page = new Page();
            IntentBitmap.fillBlank(VOLUME, 1, page);
            new PagePair(disk, VOLUME.description().layout().bitmapBytes()).write(page);
            disks.add(disk);
        }
        for (int run = 0; run < RUNS; run++) {
            open();
            work();
            cut();
            check(run);
        }
        assertThat(dirtyFound).as("seed %d: disks that differed", seed).isGreaterThan(RUNS / 4);
        assertThat(cleared).as("seed %d: bits taken away", seed).isGreaterThan(RUNS / 4);
    }

    private void open() throws StorageException {
        var members = new MemberSet(2, (_, _) -> {});
        for (int slot = 0; slot < 2; slot++) {
            members.add(slot, disks.get(slot));
        }
        bitmap = IntentBitmap.open(members, VOLUME, 0b11, true);
        for (long stripe = bitmap.nextUnsynced(0); stripe >= 0
                && stripe < STRIPES; stripe = bitmap.nextUnsynced(stripe)) {
            for (int i = 0; i < REGION; i++) {
                copy((int) stripe + i);
            }
            bitmap.synced(stripe);
        }
        Arrays.fill(busy, false);
        writes = 0;
        // The power goes off in the middle of a request of one of them.
        int victim = random.nextInt(2);
        disks.get(victim).flush();
        disks.set(victim, disks.get(victim).afterCut(random.nextInt(120)));
        members.add(victim, disks.get(victim));
        bitmap = IntentBitmap.open(members, VOLUME, 0b11, false);
    }

    private void copy(int stripe) throws StorageException {
        MemorySegment data = MemorySegment.ofArray(new byte[512]);
        disks.get(0).read(block(stripe), data);
        disks.get(1).writeThrough(block(stripe), data);
    }

    private void work() {
        int steps = random.nextInt(400);
        for (int i = 0; i < steps && disks.stream().noneMatch(QueuedDevice::isCut); i++) {
            int marked = bitmap.marked();
            int stripe = random.nextInt(STRIPES);
            if (random.nextInt(6) == 0) {
                bitmap.tick();
            } else if (writes < MAX_WRITES && random.nextInt(3) == 0 && !busy[stripe]) {
                new Write(stripe).begin();
            } else {
                QueuedDevice disk = disks.get(random.nextInt(2));
                if (disk.pending() > 0) {
                    disk.step(random);
                }
            }
            cleared += Math.max(0, marked - bitmap.marked());
        }
    }

    private void cut() {
        var after = new ArrayList<QueuedDevice>();
        for (QueuedDevice disk : disks) {
            after.add(disk.afterCut(Long.MAX_VALUE));
        }
        disks = after;
    }

    private void check(int run) throws StorageException {
        var members = new MemberSet(2, (_, _) -> {});
        for (int slot = 0; slot < 2; slot++) {
            members.add(slot, disks.get(slot));
        }
        IntentBitmap found = IntentBitmap.open(members, VOLUME, 0b11, true);
        assertThat(found.marked()).as("seed %d run %d: torn pages are not all there is", seed, run)
                .isLessThan(found.regions());
        for (int stripe = 0; stripe < STRIPES; stripe++) {
            if (content(disks.get(0), stripe) != content(disks.get(1), stripe)) {
                assertThat(found.isMarked(stripe)).as("seed %d run %d stripe %d", seed, run, stripe)
                        .isTrue();
                dirtyFound++;
            }
        }
    }

    private static long content(BlockDevice disk, int stripe) throws StorageException {
        MemorySegment data = MemorySegment.ofArray(new byte[512]);
        disk.read(block(stripe), data);
        return data.get(JAVA_LONG_UNALIGNED, 0);
    }
}
