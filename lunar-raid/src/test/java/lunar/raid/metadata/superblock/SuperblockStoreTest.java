package lunar.raid.metadata.superblock;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Random;
import lunar.block.BlockDevice;
import lunar.block.StorageException;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Volumes;
import lunar.raid.metadata.page.PagePair;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.SuperblockReading;
import lunar.testkit.PowerCutDevice;
import lunar.testkit.Seed;
import lunar.testkit.SteppedDevice;
import org.junit.jupiter.api.Test;

class SuperblockStoreTest {
    private static final int DEVICE_BYTES = 256 << 10;
    private static final int RUNS = 300;
    private static final int BLOCK = 512;

    private static Superblock superblock(long generation) {
        return new Superblock(generation, 1,
                Volumes.withEvents(Volumes.volume(Level.RAID1, 2, Consistency.BITMAP), generation));
    }

    private static Superblock found(BlockDevice device) {
        SuperblockReading reading = new SuperblockStore(device).read();
        assertThat(reading).isInstanceOf(SuperblockReading.Found.class);
        return ((SuperblockReading.Found) reading).superblock();
    }

    @Test
    void shouldFindWhatWasWrittenLast() throws StorageException {
        var device = new SteppedDevice(512);
        assertThat(new SuperblockStore(device).read()).isEqualTo(new SuperblockReading.Blank());
        for (int generation = 1; generation < 6; generation++) {
            var store = new SuperblockStore(device);
            store.read();
            store.write(superblock(generation));
            assertThat(found(device)).isEqualTo(superblock(generation));
        }
    }

    @Test
    void shouldFallBackWhereTheNewestIsDamaged() throws StorageException {
        var device = new SteppedDevice(512);
        var store = new SuperblockStore(device);
        store.write(superblock(1));
        store.write(superblock(2));
        device.write(PagePair.STRIDE_BYTES / BLOCK + 7, MemorySegment.ofArray(new byte[BLOCK]));
        assertThat(found(device)).as("the last block had only zeroes").isEqualTo(superblock(2));
        device.write(PagePair.STRIDE_BYTES / BLOCK + 1, MemorySegment.ofArray(new byte[BLOCK]));
        assertThat(found(device)).isEqualTo(superblock(1));
        device.write(1, MemorySegment.ofArray(new byte[BLOCK]));
        assertThat(new SuperblockStore(device).read())
                .isInstanceOf(SuperblockReading.Damaged.class);
        store.erase();
        assertThat(new SuperblockStore(device).read()).isEqualTo(new SuperblockReading.Blank());
    }

    @Test
    void shouldTellOfDevicesThatCannotBeRead() {
        var device = new SteppedDevice(512);
        device.close();
        assertThat(new SuperblockStore(device).read())
                .isInstanceOf(SuperblockReading.Unreadable.class);
        assertThat(new SuperblockStore(new SteppedDevice(100)).read())
                .as("too small for one").isEqualTo(new SuperblockReading.Blank());
    }

    @Test
    void shouldHaveOneAtAnyMoment() throws StorageException {
        long seed = Seed.next();
        var random = new Random(seed);
        var device = PowerCutDevice.create(DEVICE_BYTES, random);
        new SuperblockStore(device).write(superblock(1));
        long stable = 1;
        for (int run = 0; run < RUNS; run++) {
            device = device.afterCut(random.nextInt(12));
            long tried = stable;
            try {
                var store = new SuperblockStore(device);
                if (store.read() instanceof SuperblockReading.Found(Superblock last)) {
                    assertThat(last.generation()).as("seed %d run %d", seed, run)
                            .isEqualTo(stable);
                    while (true) {
                        tried++;
                        store.write(superblock(tried));
                        stable = tried;
                    }
                }
            } catch (StorageException e) {
                assertThat(device.isCut()).isTrue();
            }
            Superblock after = found(device.afterCut(Long.MAX_VALUE));
            assertThat(after.generation()).as("seed %d run %d", seed, run).isIn(stable, tried);
            assertThat(after).isEqualTo(superblock(after.generation()));
            device = device.afterCut(Long.MAX_VALUE);
            stable = found(device).generation();
        }
    }
}
