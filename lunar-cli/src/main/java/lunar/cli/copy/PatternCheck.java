package lunar.cli.copy;

import lunar.cli.command.Errors;
import lunar.cli.command.Failure;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockDevice;

/**
 * Writes and reads at random positions with many requests in flight, and checks every byte read against a model: the
 * content of a cell of 4 KiB is determined by the seed, its position and its number of writes. Each thread has its own
 * cells, distributed over the whole device, so that the model needs no synchronization between threads.
 */
public final class PatternCheck {
    private static final int CELL_BYTES = 4096;

    private final BlockDevice device;
    private final long seed;
    private final int depth;
    private final int[] generations;
    private long endNs;

    public PatternCheck(BlockDevice device, long seed, int depth) {
        this(device, seed, depth,
                new int[(int) Math.min(device.sizeBytes() / CELL_BYTES, 1 << 20)]);
    }

    private PatternCheck(BlockDevice device, long seed, int depth, int[] generations) {
        this.device = device;
        this.seed = seed;
        this.depth = depth;
        this.generations = generations;
    }

    /** Continues with the model on a device that was reopened. */
    public PatternCheck on(BlockDevice same) {
        return new PatternCheck(same, seed, depth, generations);
    }

    /**
     * Runs for a time.
     *
     * @return requests that were done and right
     */
    public long run(int threads, long timeNs) throws Failure, InterruptedException {
        endNs = System.nanoTime() + timeNs;
        var results = new ArrayList<Future<Long>>();
        try (var workers = Executors.newFixedThreadPool(threads)) {
            for (int i = 0; i < threads; i++) {
                int share = i;
                results.add(workers.submit(() -> work(share, threads)));
            }
            long sum = 0;
            for (Future<Long> result : results) {
                sum += result.get();
            }
            return sum;
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw cause instanceof Failure failure
                    ? failure
                    : new Failure(Errors.message(cause), e);
        }
    }

    private long work(int share, int shares) throws Failure {
        var random = new SplittableRandom(seed + share);
        int cells = (generations.length - share + shares - 1) / shares;
        long requests = 0;
        try (Arena arena = Arena.ofShared()) {
            var buffers = new ArrayList<MemorySegment>();
            for (int i = 0; i < depth; i++) {
                buffers.add(arena.allocate(CELL_BYTES, CELL_BYTES));
            }
            do {
                // One run of lanes, apart from each other, so that no cell is in a batch twice.
                int apart = Math.max(1, cells / depth);
                int first = random.nextInt(cells);
                var places = new ArrayList<Integer>();
                for (int i = 0; i < Math.min(depth, cells); i++) {
                    places.add(share + shares * ((first + i * apart) % cells));
                }
                requests += write(places, buffers) + read(places, buffers);
                var others = random.ints(depth, 0, cells).mapToObj(cell -> share + shares * cell)
                        .toList();
                requests += read(others, buffers);
            } while (System.nanoTime() - endNs < 0);
        }
        return requests;
    }

    private int write(List<Integer> cells, List<MemorySegment> buffers) throws Failure {
        var running = new ArrayList<CompletableFuture<Void>>();
        for (int i = 0; i < cells.size(); i++) {
            int cell = cells.get(i);
            generations[cell]++;
            fill(buffers.get(i), cell);
            running.add(device.submitWrite(lba(cell), buffers.get(i)));
        }
        await(running);
        return cells.size();
    }

    private int read(List<Integer> cells, List<MemorySegment> buffers) throws Failure {
        var running = new ArrayList<CompletableFuture<Void>>();
        for (int i = 0; i < cells.size(); i++) {
            running.add(device.submitRead(lba(cells.get(i)), buffers.get(i)));
        }
        await(running);
        for (int i = 0; i < cells.size(); i++) {
            check(buffers.get(i), cells.get(i));
        }
        return cells.size();
    }

    private long lba(int cell) { return (long) cell * (CELL_BYTES / device.blockSize()); }

    /** All must have ended before a failure is told: they use the buffers. */
    private static void await(List<CompletableFuture<Void>> running) throws Failure {
        var all = CompletableFuture.allOf(running.toArray(CompletableFuture[]::new));
        try {
            all.orTimeout(1, TimeUnit.MINUTES).join();
        } catch (CompletionException e) {
            throw new Failure(Errors.message(e.getCause() == null ? e : e.getCause()), e);
        }
    }

    private void fill(MemorySegment buffer, int cell) {
        for (int at = 0; at < CELL_BYTES; at += Long.BYTES) {
            buffer.set(ValueLayout.JAVA_LONG, at, word(cell, at));
        }
    }

    private void check(MemorySegment buffer, int cell) throws Failure {
        for (int at = 0; at < CELL_BYTES; at += Long.BYTES) {
            long found = buffer.get(ValueLayout.JAVA_LONG, at);
            if (found != word(cell, at)) {
                throw new Failure(String.format(
                        "byte %d contains %016x instead of %016x, write %d of"
                                + " its cell, seed %d",
                        (long) cell * CELL_BYTES + at, found,
                        word(cell, at), generations[cell], seed));
            }
        }
    }

    /** Zero in a cell that was never written. */
    private long word(int cell, int at) {
        int generation = generations[cell];
        if (generation == 0) {
            return 0;
        }
        long mixed = (seed ^ ((long) cell << 32 | generation)) * 0x9E3779B97F4A7C15L + at;
        mixed = (mixed ^ mixed >>> 29) * 0xBF58476D1CE4E5B9L;
        return mixed ^ mixed >>> 32;
    }
}
