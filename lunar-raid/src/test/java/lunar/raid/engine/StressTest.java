package lunar.raid.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.ForwardingDevice;
import lunar.block.Identity;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.raid.BackgroundScan;
import lunar.raid.RaidMember;
import lunar.raid.RaidOptions;
import lunar.raid.ScanOptions;
import lunar.raid.Scrub;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Level;
import lunar.raid.layout.Shape;
import lunar.store.MemoryDevice;
import lunar.testkit.Seed;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many threads at once, those of members included, while a member is lost, replaced and scrubbed. */
class StressTest {
    private static final int CHUNK_BLOCKS = 8;
    private static final int ROWS = 64;
    private static final int WRITERS = 4;
    private static final int LAPS = 400;
    private static final long DEADLINE_SECONDS = 120;

    /** Completes each request on some thread of a pool. */
    private static final class Pooled extends ForwardingDevice {
        private final ExecutorService pool;

        Pooled(BlockDevice below, ExecutorService pool) {
            super(below);
            this.pool = pool;
        }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            below().execute(request);
        }

        @Override
        public void submit(BlockRequest request) {
            pool.execute(() -> RequestCompletion.executeAndComplete(request, below()));
        }
    }

    private final long seed = Seed.next();

    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID1", "RAID5", "RAID6", "RAID10"})
    void shouldKeepEveryWriteOfManyThreadsThroughALossAndARebuild(Level level) throws Exception {
        Shape shape = Shape.of(level, 512, CHUNK_BLOCKS, 4, CHUNK_BLOCKS * ROWS);
        try (ExecutorService pool = Executors.newFixedThreadPool(3);
                ExecutorService writers = Executors.newFixedThreadPool(WRITERS)) {
            var members = new ArrayList<RaidMember>();
            for (int slot = 0; slot < 4; slot++) {
                members.add(RaidMember.of(member(pool), 0));
            }
            VolumeEngine volume = VolumeEngine.of(shape, members,
                    RaidOptions.of(Identity.of("stress", new UUID(0, 1))).withStripeTasks(5));
            long blocks = Layout.of(shape).volumeBlocks();
            MemorySegment expected = Arena.ofAuto().allocate(blocks * 512);
            List<Future<?>> running = new ArrayList<>();
            for (int writer = 0; writer < WRITERS; writer++) {
                int mine = writer;
                running.add(writers.submit(() -> {
                    write(volume, expected, blocks, mine);
                    return null;
                }));
            }
            BackgroundScan look = scan(options -> volume.scrub(false, options));
            assertThat(((Scrub) look).mismatches()).as("seed %d", seed).isZero();
            volume.fail(2, new DeviceGoneException("pulled"));
            BlockDevice fresh = member(pool);
            BackgroundScan rebuild = scan(options -> volume.replace(2, fresh, 0, options));
            assertThat(rebuild.failure()).as("seed %d", seed).isNull();
            for (Future<?> one : running) {
                one.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
            }
            BackgroundScan last = scan(options -> volume.scrub(false, options));
            assertThat(((Scrub) last).mismatches()).as("seed %d", seed).isZero();
            requireContent(volume, expected);
            volume.fail(1, new DeviceGoneException("pulled"));
            requireContent(volume, expected);
            volume.close();
        }
    }

    private static BlockDevice member(ExecutorService pool) {
        return new Pooled(MemoryDevice.create(CHUNK_BLOCKS * ROWS * 512L, 512), pool);
    }

    private static BackgroundScan scan(Function<ScanOptions, BackgroundScan> start)
            throws InterruptedException {
        var ended = new CountDownLatch(1);
        Consumer<BackgroundScan> onEnd = _ -> ended.countDown();
        BackgroundScan scan = start.apply(ScanOptions.DEFAULT.withBatch(3).withOnEnd(onEnd));
        assertThat(ended.await(DEADLINE_SECONDS, TimeUnit.SECONDS)).as("%s", scan).isTrue();
        return scan;
    }

    /** Blocks that are the writer's modulo the number of writers: neighbours in a stripe belong to others. */
    private void write(VolumeEngine volume, MemorySegment expected, long blocks, int mine)
            throws StorageException {
        var random = new Random(seed + mine);
        MemorySegment data = Arena.ofAuto().allocate(512);
        MemorySegment back = Arena.ofAuto().allocate(512);
        for (int lap = 0; lap < LAPS; lap++) {
            long block = random.nextLong(blocks / WRITERS) * WRITERS + mine;
            data.fill((byte) random.nextInt());
            volume.write(block, data);
            expected.asSlice(block * 512, 512).copyFrom(data);
            volume.read(block, back);
            assertThat(back.mismatch(data)).as("seed %d block %d", seed, block).isEqualTo(-1);
        }
    }

    private void requireContent(VolumeEngine volume, MemorySegment expected)
            throws StorageException {
        MemorySegment all = Arena.ofAuto().allocate(expected.byteSize());
        volume.read(0, all);
        assertThat(all.mismatch(expected)).as("seed %d", seed).isEqualTo(-1);
    }
}
