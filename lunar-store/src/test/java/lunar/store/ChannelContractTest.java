package lunar.store;

import java.nio.file.Path;
import java.time.Duration;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.block.StorageException;
import lunar.filter.DelayFilter;
import lunar.testkit.ChannelContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the contract of channels over stores: one that completes requests immediately, one with workers, one that
 * reorders.
 */
class ChannelContractTest {
    @Nested
    class Memory512 extends ChannelContract {
        @Override
        protected BlockDevice create(long blockCount) {
            return MemoryDevice.create(blockCount * 512, 512);
        }
    }

    @Nested
    class Memory4096 extends ChannelContract {
        @Override
        protected BlockDevice create(long blockCount) {
            return MemoryDevice.create(blockCount * 4096, 4096);
        }
    }

    @Nested
    class File extends ChannelContract {
        @TempDir
        private Path folder;

        @Override
        protected BlockDevice create(long blockCount) throws StorageException {
            return Devices.open(
                    "file:" + folder.resolve("disk.img") + "?size=" + blockCount * 512);
        }
    }

    @Nested
    class Reordered extends ChannelContract {
        @Override
        protected BlockDevice create(long blockCount) {
            return new DelayFilter(MemoryDevice.create(blockCount * 512, 512), Duration.ZERO,
                    Duration.ofNanos(50_000), 1);
        }
    }
}
