package lunar.bench.load;

import lunar.bench.harness.BenchException;
import lunar.bench.harness.Latencies;
import lunar.bench.harness.Work;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import lunar.bench.load.LoadOrder.Window;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.StorageException;
import lunar.initiator.Session;
import lunar.scsi.Lun;
import org.jspecify.annotations.Nullable;

/** Load by Lunar's initiator: each request is resubmitted when it completes. */
final class LunarLoad implements Load {
    private static final int ALIGNMENT = 4096;
    private static final int DRAIN_SECONDS = 60;

    private final LoadLuns luns;

    LunarLoad() throws IOException { luns = new LoadLuns(); }

    @Override
    public LoadResult run(LoadOrder order)
            throws BenchException, IOException, InterruptedException {
        if (order.work().operation() == Work.Operation.NO_DATA) {
            return withoutData(order);
        }
        try (LoadLuns.Open open = luns.open(order); Arena arena = Arena.ofShared()) {
            return new Run(order, open.devices(), arena).result();
        }
    }

    /** Commands without data, each when the one before has completed. */
    private LoadResult withoutData(LoadOrder order) throws BenchException, IOException {
        var latencies = new Latencies();
        try (Session session = luns.login(order.uri())) {
            boolean _ = testUnitReady(session); // it may get a unit attention
            Window window = order.window();
            for (long now = System.nanoTime(); !window.isOver(now);) {
                long startNs = now;
                if (!testUnitReady(session)) {
                    throw new BenchException("the unit is not ready");
                }
                now = System.nanoTime();
                if (window.holds(now)) {
                    latencies.add(now - startNs);
                }
            }
            return LoadResult.of(window, List.of(latencies));
        }
    }

    private static boolean testUnitReady(Session session) throws StorageException {
        return session.execute(Lun.ZERO, new byte[6], MemorySegment.NULL, MemorySegment.NULL)
                .isGood(); // an opcode of 0 (SPC-5)
    }

    /** Executes one order. */
    private static final class Run {
        private final Window window;
        private final AtomicReference<@Nullable StorageException> failure = new AtomicReference<>();
        private final CountDownLatch ended;
        private final List<Latencies> sessions = new ArrayList<>();
        private final List<Lane> lanes = new ArrayList<>();

        Run(LoadOrder order, List<BlockDevice> devices, Arena arena) {
            Work work = order.work();
            ended = new CountDownLatch(devices.size() * work.depth());
            for (BlockDevice device : devices) {
                var latencies = new Latencies();
                sessions.add(latencies);
                var cursor = new AtomicLong();
                for (int i = 0; i < work.depth(); i++) {
                    var places = new Places(work,
                            Math.min(order.lunBytes(), device.sizeBytes()), lanes.size(), cursor);
                    MemorySegment buffer = arena.allocate(work.requestBytes(), ALIGNMENT);
                    places.fill(buffer);
                    lanes.add(new Lane(device, work.requestBytes() / device.blockSize(), buffer,
                            places, latencies));
                }
            }
            window = order.window();
        }

        LoadResult result() throws BenchException, InterruptedException {
            lanes.forEach(Lane::begin);
            if (!ended.await(window.toNs() - System.nanoTime()
                    + TimeUnit.SECONDS.toNanos(DRAIN_SECONDS), TimeUnit.NANOSECONDS)) {
                System.exit(1); // the buffers of requests that have not ended must stay
            }
            StorageException why = failure.get();
            if (why != null) {
                throw new BenchException("Lunar: " + why.getMessage(), why);
            }
            return LoadResult.of(window, sessions);
        }

        /** A request that begins again when it has ended. */
        private final class Lane implements BlockRequest.Completion {
            private final BlockDevice device;
            private final int blocks;
            private final MemorySegment buffer;
            private final Places places;
            private final Latencies latencies;
            private final BlockRequest request = new BlockRequest().onCompletion(this);
            private long startNs;

            Lane(BlockDevice device, int blocks, MemorySegment buffer, Places places,
                    Latencies latencies) {
                this.device = device;
                this.blocks = blocks;
                this.buffer = buffer;
                this.places = places;
                this.latencies = latencies;
            }

            void begin() {
                long lba = places.next() * blocks;
                if (places.nextWrites()) {
                    request.asWrite(lba, blocks, buffer, false);
                } else {
                    request.asRead(lba, blocks, buffer);
                }
                startNs = System.nanoTime();
                device.submit(request);
            }

            @Override
            public void completed(BlockRequest same, @Nullable StorageException why) {
                long now = System.nanoTime();
                if (window.holds(now)) {
                    latencies.add(now - startNs);
                }
                if (why != null) {
                    failure.compareAndSet(null, why);
                }
                if (window.isOver(now) || failure.get() != null) {
                    ended.countDown();
                } else {
                    begin();
                }
            }
        }
    }
}
