package lunar.testkit;

import static lunar.testkit.DeviceCalls.readBlocks;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import lunar.block.BlockDevice;
import lunar.block.Extent;
import lunar.block.OutOfRangeException;
import lunar.block.StorageException;
import org.junit.jupiter.api.Test;

/**
 * Contract of {@link BlockDevice#extent}: extents are correct without concurrent writes, and cover the whole device.
 */
abstract class ExtentContract extends CompletionContract {
    /** Large enough for holes where they are coarse. */
    private static final int BLOCK_COUNT = 4096;

    @Test
    void shouldReportExtentsThatBeginAtTheBlockRequestedAndStayOnTheDevice() throws Exception {
        BlockDevice device = open(BLOCK_COUNT);
        device.write(random.nextInt(BLOCK_COUNT), randomBlocks(device, 1));
        for (int i = 0; i < 40; i++) {
            long lba = i == 0 ? device.blockCount() - 1 : random.nextLong(device.blockCount());
            Extent extent = device.extent(lba);
            assertThat(extent.lba()).as("seed %d", seed).isEqualTo(lba);
            assertThat(extent.blockCount()).as("seed %d", seed)
                    .isBetween(1L, device.blockCount() - lba);
        }
    }

    @Test
    void shouldRejectToReportBlocksThatAreNotOnTheDevice() throws Exception {
        BlockDevice device = open(64);
        long end = device.blockCount();
        for (long lba : new long[]{-1, end, end + 1, Long.MAX_VALUE, Long.MIN_VALUE}) {
            assertThatThrownBy(() -> device.extent(lba)).as("lba %d", lba)
                    .isInstanceOf(OutOfRangeException.class);
        }
    }

    @Test
    void shouldReadZeroesFromHolesAfterWritesAndUnmaps() throws Exception {
        BlockDevice device = open(BLOCK_COUNT);
        var model = DeviceModel.readFrom(device, BLOCK_COUNT);
        for (int step = 0; step < 24; step++) {
            String last = model.applySparse(random, step);
            for (Extent extent : walk(device)) {
                if (!extent.allocated()) {
                    model.requireZero(extent.lba(), extent.blockCount(),
                            "seed %d step %d: %s, then %s".formatted(seed, step, last, extent));
                }
            }
        }
        model.requireEqual("seed %d".formatted(seed));
    }

    @Test
    void shouldFindWhatWasWrittenOutsideOfHoles() throws Exception {
        BlockDevice device = open(BLOCK_COUNT);
        for (int i = 0; i < 8; i++) {
            int count = 1 + random.nextInt(8);
            long lba = random.nextInt(BLOCK_COUNT - count);
            var data = randomBlocks(device, count);
            device.write(lba, data);
            assertThat(device.extent(lba).allocated()).as("seed %d lba %d", seed, lba).isTrue();
            assertThat(device.extent(lba + count - 1).allocated())
                    .as("seed %d lba %d", seed, lba + count - 1).isTrue();
            assertThat(readBlocks(device, lba, count).mismatch(data)).isEqualTo(-1);
        }
    }

    /** All extents, one after the other: they must cover the device once. */
    private List<Extent> walk(BlockDevice device) throws StorageException {
        var extents = new ArrayList<Extent>();
        long next = 0;
        while (next < device.blockCount()) {
            Extent extent = device.extent(next);
            assertThat(extent.lba()).as("seed %d", seed).isEqualTo(next);
            extents.add(extent);
            next += extent.blockCount();
        }
        assertThat(next).as("seed %d: the end of %s", seed, extents)
                .isEqualTo(device.blockCount());
        return extents;
    }
}
