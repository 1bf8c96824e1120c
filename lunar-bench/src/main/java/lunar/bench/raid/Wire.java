package lunar.bench.raid;

import lunar.bench.filter.QueuedDevice;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;

/**
 * Model of a full-duplex port of an Ethernet switch: the data of requests passes it sequentially at a fixed rate per
 * direction. Loopback has no rate limit of its own. Headers are not counted.
 */
final class Wire {
    private static final double BITS_PER_BYTE = 8;
    private static final ScheduledExecutorService TIMER = Executors
            .newSingleThreadScheduledExecutor(
                    Thread.ofPlatform().daemon().name("bench wire").factory());

    private volatile double nsPerByte;
    /** When all that was taken has passed: towards the target, and from it. Guarded by this. */
    private final long[] passedNs = new long[2];

    /** Creates a wire without delay. */
    Wire() {
        passedNs[0] = System.nanoTime();
        passedNs[1] = passedNs[0];
    }

    /** Sets the speed from now on. */
    void speed(long bitsPerSecond) {
        nsPerByte = 1e9 * BITS_PER_BYTE / bitsPerSecond;
    }

    /** Nanoseconds until so many bytes have passed. */
    private synchronized long take(boolean in, long bytes, long nowNs) {
        int way = in ? 1 : 0;
        long from = passedNs[way] - nowNs < 0 ? nowNs : passedNs[way];
        passedNs[way] = from + (long) (bytes * nsPerByte);
        return passedNs[way] - nowNs;
    }

    /** A LUN behind this port of the initiator and one of its own. */
    BlockDevice to(BlockDevice lun, Wire port) {
        return new Behind(lun, this, port);
    }

    private static final class Behind extends QueuedDevice {
        private final Wire here;
        private final Wire there;

        Behind(BlockDevice lun, Wire here, Wire there) {
            super(lun);
            this.here = here;
            this.there = there;
        }

        /** Returned data also waits before the request is sent: the data per second is the same. */
        @Override
        public void submit(BlockRequest request) {
            boolean reads = request.operation() == Operation.READ;
            if (!reads && request.operation() != Operation.WRITE) {
                below().submit(request);
                return;
            }
            long nowNs = System.nanoTime();
            long bytes = request.buffer().byteSize();
            long waitNs = Math.max(here.take(reads, bytes, nowNs),
                    there.take(reads, bytes, nowNs));
            var _ = TIMER.schedule(() -> below().submit(request), waitNs, TimeUnit.NANOSECONDS);
        }
    }
}
