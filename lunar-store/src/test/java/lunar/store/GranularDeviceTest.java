package lunar.store;

import java.io.IOException;
import java.nio.file.Path;
import lunar.block.BlockDevice;
import lunar.block.DeviceRecords;
import lunar.filter.CacheFilter;
import lunar.filter.CacheOptions;
import lunar.filter.EncryptFilter;
import lunar.filter.EncryptOptions;
import lunar.filter.VerifyFilter;
import lunar.filter.VolatileFilter;
import lunar.testkit.BlockDeviceContract;
import lunar.testkit.GranularDevice;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.io.TempDir;

/** Tests a device that unmaps whole granules only, bare and under filters. */
class GranularDeviceTest {
    @Nested
    class Bare extends BlockDeviceContract {
        @Override
        protected BlockDevice create(long blockCount) throws IOException {
            return granular(blockCount);
        }
    }

    @Nested
    class Verify extends BlockDeviceContract {
        @Override
        protected BlockDevice create(long blockCount) throws IOException {
            return new VerifyFilter(granular(blockCount));
        }
    }

    @Nested
    class Volatile extends BlockDeviceContract {
        @Override
        protected BlockDevice create(long blockCount) throws IOException {
            return new VolatileFilter(granular(blockCount));
        }
    }

    @Nested
    class Cache extends BlockDeviceContract {
        @Override
        protected BlockDevice create(long blockCount) throws IOException {
            return new CacheFilter(granular(blockCount), CacheOptions.of(64 << 10));
        }
    }

    @Nested
    class Encrypt extends BlockDeviceContract {
        @TempDir
        private Path keys;

        @Override
        protected BlockDevice create(long blockCount) throws IOException {
            return new EncryptFilter(granular(blockCount),
                    EncryptOptions.of(keys.resolve("key")).withCreateKey(true),
                    DeviceRecords.NONE);
        }
    }

    private static BlockDevice granular(long blockCount) throws IOException {
        return new GranularDevice(MemoryDevice.create(blockCount * 512, 512), 16);
    }
}
