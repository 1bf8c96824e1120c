package lunar.store;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest.Operation;
import lunar.block.DeviceRecords;
import lunar.block.Devices;
import lunar.block.StorageException;
import lunar.filter.CacheFilter;
import lunar.filter.CacheOptions;
import lunar.filter.CachePolicy;
import lunar.filter.DelayFilter;
import lunar.filter.EncryptFilter;
import lunar.filter.EncryptOptions;
import lunar.filter.FaultFilter;
import lunar.filter.FaultPlan;
import lunar.filter.RequestScheduler;
import lunar.filter.ScheduleFilter;
import lunar.filter.ScheduleOptions;
import lunar.filter.ThrottleFilter;
import lunar.filter.TraceFilter;
import lunar.filter.VerifyFilter;
import lunar.filter.VolatileFilter;
import lunar.testkit.BlockDeviceContract;
import lunar.testkit.OneThreadDevice;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.io.TempDir;

/** Runs the contract on each filter over memory. */
class FilterContractTest {
    /** A filter over memory; also over memory that ends requests on one thread. */
    abstract static class FilterContract extends BlockDeviceContract {
        abstract BlockDevice over(BlockDevice below) throws StorageException;

        /** Memory for so many blocks of the filter. */
        BlockDevice below(long blockCount) {
            return memory(blockCount);
        }

        @Override
        protected BlockDevice create(long blockCount) throws StorageException {
            return over(below(blockCount));
        }

        @Override
        protected Optional<Stacked> createOverOneThread(long blockCount) throws StorageException {
            var below = new OneThreadDevice(below(blockCount));
            return Optional.of(new Stacked(over(below), List.of(below)));
        }
    }

    @Nested
    class Fault extends FilterContract {
        @Override
        BlockDevice over(BlockDevice below) { return new FaultFilter(below, FaultPlan.NONE, 1); }
    }

    @Nested
    class Delay extends FilterContract {
        @Override
        BlockDevice over(BlockDevice below) {
            return new DelayFilter(below, Duration.ZERO, Duration.ofNanos(50_000), 1);
        }
    }

    @Nested
    class Throttle extends FilterContract {
        @Override
        BlockDevice over(BlockDevice below) { return new ThrottleFilter(below, 1L << 30, 100_000); }
    }

    @Nested
    class Volatile extends FilterContract {
        @Override
        BlockDevice over(BlockDevice below) { return new VolatileFilter(below); }
    }

    @Nested
    class Verify extends FilterContract {
        @Override
        BlockDevice over(BlockDevice below) { return new VerifyFilter(below); }
    }

    @Nested
    class Trace extends FilterContract {
        @Override
        BlockDevice over(BlockDevice below) { return new TraceFilter(below, _ -> {}); }
    }

    @Nested
    class Encrypt extends FilterContract {
        @TempDir
        private Path keys;

        @Override
        BlockDevice over(BlockDevice below) throws StorageException {
            return new EncryptFilter(below,
                    EncryptOptions.of(keys.resolve("key")).withCreateKey(true), DeviceRecords.NONE);
        }
    }

    /** So little memory that pages come and go, over a device that makes read-ahead worth while. */
    @Nested
    class Cache extends FilterContract {
        @Override
        BlockDevice over(BlockDevice below) {
            return new CacheFilter(delayed(below), CacheOptions.of(256 << 10));
        }
    }

    @Nested
    class CacheOfShortPages extends FilterContract {
        @Override
        BlockDevice over(BlockDevice below) {
            return new CacheFilter(below, CacheOptions.of(64 << 10)
                    .withPageBytes(512).withPolicy(CachePolicy.lru()));
        }
    }

    @Nested
    class Schedule extends FilterContract {
        @Override
        BlockDevice over(BlockDevice below) {
            return new ScheduleFilter(delayed(below), ScheduleOptions.of(
                    RequestScheduler.elevator(ScheduleOptions.DEFAULT_DEADLINE)));
        }
    }

    @Nested
    class ScheduleWithMerging extends FilterContract {
        @Override
        BlockDevice over(BlockDevice below) {
            return new ScheduleFilter(below, ScheduleOptions
                    .of(RequestScheduler.fifo()).withDepth(1).withMergeBytes(64 << 10));
        }
    }

    private static BlockDevice delayed(BlockDevice below) {
        return new DelayFilter(below, Duration.ZERO, Duration.ofNanos(50_000), 1);
    }

    /** The faults are in blocks that the contract does not reach, so only their machinery is in the way. */
    @Nested
    class VerifyOverFault extends FilterContract {
        @Override
        BlockDevice below(long blockCount) { return memory(blockCount + 8); }

        @Override
        BlockDevice over(BlockDevice below) {
            FaultPlan corrupt = FaultPlan.NONE.withKind(FaultPlan.Kind.CORRUPT)
                    .withOperations(Operation.READ)
                    .withRange(below.blockCount() - 8, below.blockCount() - 2);
            return new VerifyFilter(new FaultFilter(below, corrupt, 1));
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
