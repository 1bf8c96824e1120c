package lunar.store;

import lunar.block.BlockDevice;
import lunar.testkit.BlockDeviceContract;
import org.junit.jupiter.api.Nested;

/** Runs the contract on memory. */
class MemoryDeviceContractTest {
    @Nested
    class Blocks512 extends BlockDeviceContract {
        @Override
        protected BlockDevice create(long blockCount) {
            return MemoryDevice.create(blockCount * 512, 512);
        }
    }

    @Nested
    class Blocks4096 extends BlockDeviceContract {
        @Override
        protected BlockDevice create(long blockCount) {
            return MemoryDevice.create(blockCount * 4096, 4096);
        }
    }
}
