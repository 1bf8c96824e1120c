package lunar.store;

import java.nio.file.Path;
import java.time.Duration;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest.Operation;
import lunar.block.CacheFilter;
import lunar.block.CacheOptions;
import lunar.block.CachePolicy;
import lunar.block.DelayFilter;
import lunar.block.Devices;
import lunar.block.DeviceRecords;
import lunar.block.EncryptFilter;
import lunar.block.EncryptOptions;
import lunar.block.FaultFilter;
import lunar.block.FaultPlan;
import lunar.block.RequestScheduler;
import lunar.block.ScheduleFilter;
import lunar.block.ScheduleOptions;
import lunar.block.StorageException;
import lunar.block.ThrottleFilter;
import lunar.block.TraceFilter;
import lunar.block.VerifyFilter;
import lunar.block.VolatileFilter;
import lunar.testkit.BlockDeviceContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.io.TempDir;

/** The contract on each filter over memory: nothing may be lost by standing in between. */
class FilterContractTest {
    @Nested
    class Fault extends BlockDeviceContract {
        @Override
        protected BlockDevice create(long blockCount) {
            return new FaultFilter(memory(blockCount), FaultPlan.NONE, 1);
        }
    }

    @Nested
    class Delay extends BlockDeviceContract {
        @Override
        protected BlockDevice create(long blockCount) {
            return new DelayFilter(memory(blockCount), Duration.ZERO, Duration.ofNanos(50_000), 1);
        }
    }

    @Nested
    class Throttle extends BlockDeviceContract {
        @Override
        protected BlockDevice create(long blockCount) {
            return new ThrottleFilter(memory(blockCount), 1L << 30, 100_000);
        }
    }

    @Nested
    class Volatile extends BlockDeviceContract {
        @Override
        protected BlockDevice create(long blockCount) {
            return new VolatileFilter(memory(blockCount));
        }
    }

    @Nested
    class Verify extends BlockDeviceContract {
        @Override
        protected BlockDevice create(long blockCount) {
            return new VerifyFilter(memory(blockCount));
        }
    }

    @Nested
    class Trace extends BlockDeviceContract {
        @Override
        protected BlockDevice create(long blockCount) {
            return new TraceFilter(memory(blockCount), _ -> {});
        }
    }

    @Nested
    class Encrypt extends BlockDeviceContract {
        @TempDir
        private Path keys;

        @Override
        protected BlockDevice create(long blockCount) throws StorageException {
            return new EncryptFilter(memory(blockCount),
                    EncryptOptions.of(keys.resolve("key")).withCreateKey(true), DeviceRecords.NONE);
        }
    }

    /** So little memory that pages come and go, over a device that makes read-ahead worth while. */
    @Nested
    class Cache extends BlockDeviceContract {
        @Override
        protected BlockDevice create(long blockCount) {
            return new CacheFilter(delayed(blockCount), CacheOptions.of(256 << 10));
        }
    }

    @Nested
    class CacheOfShortPages extends BlockDeviceContract {
        @Override
        protected BlockDevice create(long blockCount) {
            return new CacheFilter(memory(blockCount), CacheOptions.of(64 << 10)
                    .withPageBytes(512).withPolicy(CachePolicy.lru()));
        }
    }

    @Nested
    class Schedule extends BlockDeviceContract {
        @Override
        protected BlockDevice create(long blockCount) {
            return new ScheduleFilter(delayed(blockCount), ScheduleOptions.of(
                    RequestScheduler.elevator(ScheduleOptions.DEFAULT_DEADLINE)));
        }
    }

    @Nested
    class ScheduleWithMerging extends BlockDeviceContract {
        @Override
        protected BlockDevice create(long blockCount) {
            return new ScheduleFilter(memory(blockCount), ScheduleOptions
                    .of(RequestScheduler.fifo()).withDepth(1).withMerging(64 << 10));
        }
    }

    private static BlockDevice delayed(long blockCount) {
        return new DelayFilter(memory(blockCount), Duration.ZERO, Duration.ofNanos(50_000), 1);
    }

    /** The faults are in blocks that the contract does not reach, so only their machinery is in the way. */
    @Nested
    class VerifyOverFault extends BlockDeviceContract {
        @Override
        protected BlockDevice create(long blockCount) {
            BlockDevice memory = memory(blockCount + 8);
            FaultPlan corrupt = FaultPlan.NONE.kind(FaultPlan.Kind.CORRUPT).on(Operation.READ)
                    .at(blockCount, blockCount + 6);
            return new VerifyFilter(new FaultFilter(memory, corrupt, 1));
        }
    }

    @Nested
    class ByUri extends BlockDeviceContract {
        @Override
        protected BlockDevice create(long blockCount) throws StorageException {
            return Devices.open("verify:cache=1MiB:schedule=elevator,merge=64KiB:fault=0:"
                    + "throttle=1GiB:delay=0us+20us:ram:" + blockCount * 4096 + "?block-size=4096");
        }
    }

    private static BlockDevice memory(long blockCount) {
        return MemoryDevice.create(blockCount * 512, 512);
    }
}
