package lunar.testkit;

import static lunar.testkit.DeviceCalls.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import lunar.block.BlockDevice;
import lunar.block.StorageException;
import org.junit.jupiter.api.AfterEach;

/** Base class with the devices and random numbers of a test. */
abstract class DeviceFixture {
    final long seed = Seed.next();
    final Random random = new Random(seed);
    final List<BlockDevice> opened = new ArrayList<>();

    /** A new device of at least so many blocks, of any content. The contract closes it. */
    protected abstract BlockDevice create(long blockCount) throws Exception;

    final BlockDevice open(long blockCount) throws Exception {
        BlockDevice device = create(blockCount);
        opened.add(device);
        assertThat(device.blockCount()).isGreaterThanOrEqualTo(blockCount);
        return device;
    }

    @AfterEach
    void closeAll() throws StorageException {
        for (BlockDevice device : opened) {
            device.close();
        }
    }

    final MemorySegment randomBlocks(BlockDevice device, int count) {
        byte[] bytes = new byte[count * device.blockSize()];
        random.nextBytes(bytes);
        return blocks(device, count).copyFrom(MemorySegment.ofArray(bytes));
    }
}
