package lunar.bench.filter;

import java.util.ArrayDeque;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import org.jspecify.annotations.Nullable;

/**
 * Model of a disk with one arm and without a queue, over memory: each request waits for the seek and the rotation to
 * its block, and completes before the next one begins. Reports mark its figures as those of a model: 7200 rpm, 1 ms
 * track-to-track seek, 9 ms full seek, 150 MB/s.
 */
final class DiskModel extends QueuedDevice {
    private static final double TURN_NS = 60e9 / 7200;
    private static final double SETTLE_NS = 1e6;
    private static final double STROKE_NS = 8e6;
    private static final long TRACK_BYTES = 1 << 20;
    private static final double NS_PER_BYTE = 1e9 / 150e6;

    private final ArrayDeque<BlockRequest> waiting = new ArrayDeque<>();
    private final Thread arm;
    private boolean closed;
    /** Position of the arm, after the last block; used by the arm's thread only. */
    private long headBytes;

    DiskModel(BlockDevice memory) {
        super(memory);
        arm = Thread.ofPlatform().daemon().name("bench arm").start(this::run);
    }

    /** Returns the time that a request takes from now. */
    private double serviceNs(BlockRequest request, long nowNs) {
        long at = request.lba() * blockSize();
        double transferNs = request.buffer().byteSize() * NS_PER_BYTE;
        if (request.operation() == BlockRequest.Operation.FLUSH || at == headBytes) {
            return transferNs;
        }
        double distance = Math.abs(at - headBytes) / (double) sizeBytes();
        double seekNs = at / TRACK_BYTES == headBytes / TRACK_BYTES
                ? 0
                : SETTLE_NS + STROKE_NS * Math.sqrt(distance);
        double angle = at % TRACK_BYTES / (double) TRACK_BYTES;
        double there = (nowNs + seekNs) / TURN_NS % 1;
        double turns = angle - there;
        return seekNs + (turns < 0 ? turns + 1 : turns) * TURN_NS + transferNs;
    }

    private void run() {
        for (BlockRequest request = next(); request != null; request = next()) {
            long startNs = System.nanoTime();
            long endNs = startNs + (long) serviceNs(request, startNs);
            while (System.nanoTime() - endNs < 0) {
                LockSupport.parkNanos(endNs - System.nanoTime());
            }
            if (request.operation() != BlockRequest.Operation.FLUSH) {
                headBytes = request.lba() * blockSize() + request.buffer().byteSize();
            }
            RequestCompletion.executeAndComplete(request, below());
        }
    }

    private synchronized @Nullable BlockRequest next() {
        while (waiting.isEmpty() && !closed) {
            try {
                wait();
            } catch (InterruptedException _) {
                closed = true;
            }
        }
        return waiting.poll();
    }

    @Override
    public void submit(BlockRequest request) {
        synchronized (this) {
            if (!closed) {
                waiting.add(request);
                notifyAll();
                return;
            }
        }
        RequestCompletion.fail(request, new DeviceGoneException(request + ": closed"));
    }

    @Override
    public Set<Capability> capabilities() {
        var rest = EnumSet.copyOf(super.capabilities());
        rest.remove(Capability.NON_BLOCKING);
        rest.remove(Capability.TRANSFER_TO);
        return rest;
    }

    /** Does first what waits. */
    @Override
    public void close() throws StorageException {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        try {
            arm.join();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        super.close();
    }
}
