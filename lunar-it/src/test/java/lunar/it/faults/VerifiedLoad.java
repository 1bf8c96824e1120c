package lunar.it.faults;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import lunar.block.BlockDevice;
import lunar.block.LostWritesException;
import lunar.block.MediumException;
import lunar.block.StorageException;

/**
 * Workers that write stamped blocks to a device, read them, flush, and check each result with a {@link BlockHistory}.
 * Each worker writes blocks of its own, many times over, and reads all blocks. A request that fails is counted; the
 * effect of a failed write is unknown.
 */
final class VerifiedLoad implements AutoCloseable {
    private static final int WORKERS = 4;
    private static final int MAX_BLOCKS = 8;
    private static final int PERCENT = 100;
    private static final int WRITES = 55;
    private static final int FUA_WRITES = 65;
    private static final int FLUSHES = 70;
    private static final long PAUSE_NANOS = 2_000_000;
    private static final long PATIENCE_MS = 600_000;

    private final BlockDevice device;
    private final BlockHistory history;
    private final long run;
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicLong reads = new AtomicLong();
    private final AtomicLong writes = new AtomicLong();
    private final AtomicLong flushes = new AtomicLong();
    private final AtomicLong fuaWrites = new AtomicLong();
    private final AtomicLong losses = new AtomicLong();
    /** Requests of each worker that have ended, with success or without. */
    private final AtomicLongArray ended = new AtomicLongArray(WORKERS);
    private final ConcurrentMap<String, Integer> failures = new ConcurrentHashMap<>();
    private volatile boolean enough;
    private volatile Throwable broken;

    private VerifiedLoad(BlockDevice device, BlockHistory history, long run) {
        this.device = device;
        this.history = history;
        this.run = run;
    }

    /**
     * Starts the workers.
     *
     * @param device has at least as many blocks as the history
     * @param run identifies the blocks of this run
     */
    static VerifiedLoad start(BlockDevice device, BlockHistory history, long run, Random random) {
        var load = new VerifiedLoad(device, history, run);
        for (int worker = 0; worker < WORKERS; worker++) {
            int index = worker;
            long seed = random.nextLong();
            load.threads.add(Thread.ofPlatform().name("load-" + worker)
                    .start(() -> load.work(index, new Random(seed))));
        }
        return load;
    }

    /** Without workers, to judge what a device has. */
    static VerifiedLoad idle(BlockDevice device, BlockHistory history, long run) {
        return new VerifiedLoad(device, history, run);
    }

    /** Requests that have succeeded so far. */
    long done() {
        return reads.get() + writes.get() + flushes.get();
    }

    /** Flushes and writes with FUA that have succeeded. */
    long flushes() {
        return flushes.get() + fuaWrites.get();
    }

    /** Flushes that reported lost writes. */
    long losses() { return losses.get(); }

    /** Waits until so many more requests have succeeded, at most for a time; false if that was too short. */
    boolean awaitProgress(long requests, long ms) throws InterruptedException {
        long wanted = done() + requests;
        long endNanos = System.nanoTime() + ms * 1_000_000;
        while (done() < wanted) {
            failIfBroken();
            if (System.nanoTime() - endNanos > 0) {
                return false;
            }
            Thread.sleep(1);
        }
        return true;
    }

    /** Waits until so many more requests have succeeded. */
    void progress(long requests, LunarProcess server) throws IOException, InterruptedException {
        if (!awaitProgress(requests, PATIENCE_MS)) {
            throw new AssertionError("no progress: " + server.errors());
        }
    }

    /** Waits until the requests that are in flight now, and another one of each worker, have ended. */
    void round(LunarProcess server) throws IOException, InterruptedException {
        long endNanos = System.nanoTime() + PATIENCE_MS * 1_000_000;
        for (int worker = 0; worker < WORKERS; worker++) {
            long wanted = ended.get(worker) + 2;
            while (ended.get(worker) < wanted) {
                failIfBroken();
                if (System.nanoTime() - endNanos > 0) {
                    throw new AssertionError("worker " + worker + " hangs: " + server.errors());
                }
                Thread.sleep(1);
            }
        }
    }

    /** Throws what a worker has found to be wrong. */
    void failIfBroken() {
        Throwable found = broken;
        if (found != null) {
            throw new AssertionError(found.getMessage(), found);
        }
    }

    /** Ends the workers, each after the request that it waits for. */
    @Override
    public void close() throws InterruptedException {
        enough = true;
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** Reads every block and judges it; no worker may run. */
    void checkAll() throws StorageException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate((long) MAX_BLOCKS * device.blockSize());
            for (int first = 0; first < history.blocks(); first += MAX_BLOCKS) {
                read(first, Math.min(MAX_BLOCKS, history.blocks() - first), buffer);
            }
        }
    }

    /** Reads all blocks as far as the device lets it, and judges them; false if it refuses. */
    boolean checkOnce() {
        try {
            checkAll();
            return true;
        } catch (StorageException _) {
            LockSupport.parkNanos(PAUSE_NANOS);
            return false;
        } catch (BlockHistory.LostWriteException e) {
            broken = e;
            return true;
        }
    }

    /** Flushes, and says whether that vouched for all that was acknowledged. */
    boolean flush() throws StorageException {
        BlockHistory.Flush flush = history.flushBegins();
        try {
            device.flush();
            history.flushed(flush);
        } catch (LostWritesException | MediumException e) { // MEDIUM ERROR is what a gateway tells hosts
            lossReported();
            return false;
        } finally {
            history.flushEnds();
        }
        flushes.incrementAndGet();
        return true;
    }

    /** Flushes, once more after a report of lost writes. */
    void requireFlush() throws StorageException {
        if (!flush() && !flush()) {
            throw new AssertionError("a loss is reported again and again");
        }
    }

    private void lossReported() {
        history.lossReported();
        losses.incrementAndGet();
    }

    private void work(int worker, Random random) {
        int own = history.blocks() / WORKERS;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate((long) MAX_BLOCKS * device.blockSize(), 4096);
            while (!enough) {
                int choice = random.nextInt(PERCENT);
                try {
                    if (choice < FUA_WRITES) {
                        int count = 1 + random.nextInt(Math.min(MAX_BLOCKS, own));
                        int first = worker * own + random.nextInt(own - count + 1);
                        write(first, count, buffer, choice >= WRITES);
                    } else if (choice < FLUSHES) {
                        boolean _ = flush();
                    } else {
                        int count = 1 + random.nextInt(Math.min(MAX_BLOCKS, history.blocks()));
                        read(random.nextInt(history.blocks() - count + 1), count, buffer);
                    }
                } catch (StorageException e) {
                    failures.merge(e.getClass().getSimpleName(), 1, Integer::sum);
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
                ended.incrementAndGet(worker);
            }
        } catch (Throwable e) {
            broken = e;
            enough = true;
        }
    }

    /** Writes each block once, without FUA. */
    void writeAll() throws StorageException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate((long) MAX_BLOCKS * device.blockSize());
            for (int first = 0; first < history.blocks(); first += MAX_BLOCKS) {
                write(first, Math.min(MAX_BLOCKS, history.blocks() - first), buffer, false);
            }
        }
    }

    private void write(int first, int count, MemorySegment buffer, boolean fua)
            throws StorageException {
        int blockSize = device.blockSize();
        var begun = new ArrayList<BlockHistory.Write>();
        for (int i = 0; i < count; i++) {
            BlockHistory.Write write = history.begin(first + i);
            begun.add(write);
            Stamp.fill(buffer.asSlice((long) i * blockSize, blockSize), run, first + i,
                    write.number());
        }
        MemorySegment data = buffer.asSlice(0, (long) count * blockSize);
        if (fua) {
            history.throughBegins();
            try {
                device.writeThrough(first, data);
                fuaWrites.incrementAndGet();
            } catch (LostWritesException | MediumException e) { // it speaks of the writes before it, too
                lossReported();
                throw e;
            } finally {
                history.throughEnds();
            }
        } else {
            device.write(first, data);
        }
        begun.forEach(write -> history.acknowledged(write, fua));
        writes.incrementAndGet();
    }

    private void read(int first, int count, MemorySegment buffer) throws StorageException {
        int blockSize = device.blockSize();
        BlockHistory.Read read = history.beginRead(first, count);
        MemorySegment data = buffer.asSlice(0, (long) count * blockSize);
        data.fill((byte) 0x5a);
        device.read(first, data);
        for (int i = 0; i < count; i++) {
            MemorySegment block = data.asSlice((long) i * blockSize, blockSize);
            long found = Stamp.read(block, run, first + i);
            long latest = history.latest(first + i);
            long floor = history.floor(read, first + i);
            if (found == Stamp.FOREIGN && latest > floor
                    && Stamp.isMixOf(block, run, first + i, floor, latest)) {
                continue;
            }
            history.check(read, first + i, found);
        }
        reads.incrementAndGet();
    }

    /** Returns a summary for a line of the report. */
    String summary() {
        return "%,d writes, %,d reads, %,d flushes".formatted(writes.get(), reads.get(),
                flushes.get())
                + (losses.get() == 0 ? "" : ", %,d losses reported".formatted(losses.get()))
                + (failures.isEmpty() ? "" : ", failed " + failures);
    }
}
