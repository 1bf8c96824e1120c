package lunar.bench.figures;

import lunar.bench.load.Lane;

import lunar.bench.harness.BenchException;
import lunar.bench.harness.Stamps;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Devices;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/** Lunar in its usual form: one device, with one session, for all threads. */
final class LunarContender implements Contender {
    private final Arena arena = Arena.ofShared();
    private final BlockDevice device;
    private final int blocks;

    LunarContender(String uri) throws BenchException {
        try {
            device = Devices.open(uri);
        } catch (StorageException e) {
            arena.close();
            throw new BenchException("Lunar: " + e.getMessage(), e);
        }
        blocks = Stamps.BYTES / device.blockSize();
    }

    /** Stamps the whole disk; returns its block size in bytes. */
    int prepare() throws BenchException {
        try {
            Stamps.fill(device, 0);
            return device.blockSize();
        } catch (StorageException e) {
            throw failed(e);
        }
    }

    @Override
    public String label() { return "Lunar"; }

    private MemorySegment buffer() { return arena.allocate(Stamps.BYTES, Stamps.BYTES); }

    private static BenchException failed(StorageException why) {
        return new BenchException("Lunar: " + why.getMessage(), why);
    }

    @Override
    public Lane blocking() {
        MemorySegment buffer = buffer();
        return (write, places) -> {
            for (int place : places) {
                try {
                    if (write) {
                        Stamps.put(buffer, place);
                        device.write((long) place * blocks, buffer);
                    } else {
                        device.read((long) place * blocks, buffer);
                        Stamps.check(buffer, place);
                    }
                } catch (StorageException e) {
                    throw failed(e);
                }
            }
        };
    }

    @Override
    public Lane queued(int depth) {
        var buffers = new MemorySegment[depth];
        for (int i = 0; i < depth; i++) {
            buffers[i] = buffer();
        }
        return (write, places) -> new Batch(write, places).run(buffers);
    }

    /** A batch of requests: each, when it completes, starts the next one of the batch. */
    private final class Batch {
        private final boolean write;
        private final int[] places;
        private final AtomicInteger next = new AtomicInteger();
        private final CountDownLatch left;
        private final AtomicReference<@Nullable BenchException> failure = new AtomicReference<>();

        Batch(boolean write, int[] places) {
            this.write = write;
            this.places = places;
            left = new CountDownLatch(places.length);
        }

        void run(MemorySegment[] buffers) throws BenchException {
            for (MemorySegment buffer : buffers) {
                new Turn(buffer).begin();
            }
            try {
                left.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new BenchException("interrupted", e);
            }
            BenchException why = failure.get();
            if (why != null) {
                throw why;
            }
        }

        private final class Turn implements BlockRequest.Completion {
            private final MemorySegment buffer;
            private final BlockRequest request = new BlockRequest().onCompletion(this);
            private int place;

            Turn(MemorySegment buffer) { this.buffer = buffer; }

            void begin() {
                int index = next.getAndIncrement();
                if (index >= places.length) {
                    return;
                }
                place = places[index];
                if (write) {
                    Stamps.put(buffer, place);
                    device.submit(request.asWrite((long) place * blocks, blocks, buffer, false));
                } else {
                    device.submit(request.asRead((long) place * blocks, blocks, buffer));
                }
            }

            @Override
            public void completed(BlockRequest same, @Nullable StorageException why) {
                try {
                    if (why != null) {
                        throw failed(why);
                    }
                    if (!write) {
                        Stamps.check(buffer, place);
                    }
                } catch (BenchException e) {
                    failure.compareAndSet(null, e);
                }
                begin();
                left.countDown();
            }
        }
    }

    @Override
    public void close() {
        try {
            device.close();
        } catch (StorageException e) {
            throw new IllegalStateException(e);
        } finally {
            arena.close();
        }
    }
}
