package lunar.raid.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.stream.Stream;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.raid.Raid;
import lunar.raid.RaidVolume;
import lunar.raid.engine.stripe.SliceCache;
import lunar.raid.layout.Level;
import lunar.raid.layout.Shape;
import lunar.store.MemoryDevice;
import lunar.testkit.CompilerPatience;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** In the steady state requests leave no garbage, also those that need a plan. */
class AllocationTest {
    private static final int REQUESTS = 20_000;
    private static final int CHUNK_BLOCKS = 16;
    private static final int BLOCK = 512;
    /** Bytes for a request that are as good as none: what the compiler gets rid of a little later. */
    private static final int NEARLY_NOTHING = 1;

    private interface Requests {
        BlockRequest next(BlockRequest request, int number);
    }

    private final MemorySegment buffer = Arena.ofAuto().allocate(8 * CHUNK_BLOCKS * BLOCK, 4096);
    private final SliceCache parts = new SliceCache(1);

    private static RaidVolume volume(Level level) {
        List<BlockDevice> members = Stream
                .generate(() -> (BlockDevice) MemoryDevice.create(1 << 20, BLOCK)).limit(4)
                .toList();
        return Raid.volume(Shape.of(level, BLOCK, CHUNK_BLOCKS, 4, 2048), members);
    }

    @ParameterizedTest
    @EnumSource(Level.class)
    void shouldAllocateNothingForSmallReads(Level level) throws StorageException {
        try (RaidVolume volume = volume(level)) {
            requireNothing(volume, (request, i) -> request
                    .asRead(i * 8L % (volume.blockCount() - 8) / 8 * 8, 8, start(8)));
        }
    }

    @ParameterizedTest
    @EnumSource(Level.class)
    void shouldAllocateNothingForReadsOfWholeStripes(Level level) throws StorageException {
        try (RaidVolume volume = volume(level)) {
            requireNothing(volume, (request, i) -> stripe(request, volume, i, false));
        }
    }

    @ParameterizedTest
    @EnumSource(Level.class)
    void shouldAllocateNothingForWritesOfWholeStripes(Level level) throws StorageException {
        try (RaidVolume volume = volume(level)) {
            requireNothing(volume, (request, i) -> stripe(request, volume, i, true));
        }
    }

    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID1", "RAID5", "RAID6", "RAID10"})
    void shouldAllocateNothingForReadsOfADegradedVolume(Level level) throws StorageException {
        try (RaidVolume volume = volume(level)) {
            volume.fail(1, new DeviceGoneException("pulled"));
            requireNothing(volume, (request, i) -> stripe(request, volume, i, false));
        }
    }

    /** Parity is read, changed and written; parts of a unit are new objects where the unit was in another place. */
    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID1", "RAID5", "RAID6", "RAID10"})
    void shouldAllocateNothingForSmallWritesToOnePlaceOfStripes(Level level)
            throws StorageException {
        try (RaidVolume volume = volume(level)) {
            int stripeBlocks = volume.layout().stripeBlocks();
            MemorySegment data = start(8);
            requireNothing(volume, (request, i) -> request
                    .asWrite(i % volume.layout().stripes() * stripeBlocks, 8, data, false));
        }
    }

    /** The start of the buffer, each time the same object, as with a caller that reuses its buffers. */
    private MemorySegment start(int blocks) {
        return parts.of(buffer, 0, 0, (long) blocks * BLOCK);
    }

    private BlockRequest stripe(BlockRequest request, RaidVolume volume, int number,
            boolean isWrite) {
        int blocks = volume.layout().stripeBlocks();
        MemorySegment data = start(blocks);
        long lba = number % volume.layout().stripes() * blocks;
        return isWrite
                ? request.asWrite(lba, blocks, data, false)
                : request.asRead(lba, blocks, data);
    }

    private static void requireNothing(RaidVolume volume, Requests requests) {
        long warm = allocated(volume, requests);
        warm += allocated(volume, requests);
        long steady = Long.MAX_VALUE;
        var patience = new CompilerPatience();
        while (steady >= NEARLY_NOTHING * REQUESTS && patience.lasts()) {
            steady = allocated(volume, requests);
        }
        assertThat(steady).as("bytes of %d requests, %d while it got warm", REQUESTS, warm)
                .isLessThan(NEARLY_NOTHING * REQUESTS);
    }

    private static long allocated(RaidVolume volume, Requests requests) {
        var failures = new int[1];
        BlockRequest request = new BlockRequest().onCompletion((_, failure) -> {
            if (failure != null) {
                failures[0]++;
            }
        });
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < REQUESTS; i++) {
            volume.submit(requests.next(request, i));
        }
        long bytes = threads.getCurrentThreadAllocatedBytes() - before;
        assertThat(failures[0]).isZero();
        return bytes;
    }
}
