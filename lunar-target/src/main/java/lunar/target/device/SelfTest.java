package lunar.target.device;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.BooleanSupplier;
import lunar.block.BlockDevice;
import lunar.block.StorageException;

/**
 * Self-tests of a logical unit (SPC-5 section 5.15): reads pieces of the medium that lie evenly over it. One at a time.
 * Thread-safe.
 */
final class SelfTest {
    /** Longest extended self-test, as the Control mode page tells it; one that takes longer ends well. */
    static final int EXTENDED_S = 60;

    private static final int PIECE_BYTES = 256 << 10;
    private static final int SHORT_PIECES = 16;
    private static final int EXTENDED_PIECES = 1024;
    private static final long NANOS_PER_S = 1_000_000_000L;
    /** What the log page of results has room for (SPC-5 section 7.3.17). */
    private static final int MAX_RESULTS = 20;

    /** How a self-test ended; the code is that of SELF-TEST RESULTS. */
    enum Outcome {
        PASSED(0),
        ABORTED(1),
        FAILED(7);

        private final int code;

        Outcome(int code) { this.code = code; }

        int code() { return code; }
    }

    /** @param lba first block that could not be read, or -1 */
    record Result(int selfTestCode, Outcome outcome, long lba) {}

    private final BlockDevice device;
    private final Deque<Result> results = new ArrayDeque<>();
    private boolean running;
    private boolean stopping;

    SelfTest(BlockDevice device) { this.device = device; }

    /** Begins a test; false where one is running. Whoever began it runs it. */
    synchronized boolean begin() {
        if (running) {
            return false;
        }
        running = true;
        stopping = false;
        return true;
    }

    /** Stops the test that runs; false where none does. */
    synchronized boolean stop() {
        stopping |= running;
        return running;
    }

    private synchronized boolean stopping() { return stopping; }

    /** Results, newest first. */
    synchronized List<Result> results() {
        return List.copyOf(results);
    }

    private synchronized void end(Result result) {
        running = false;
        results.addFirst(result);
        if (results.size() > MAX_RESULTS) {
            results.removeLast();
        }
    }

    /** Runs the test that was begun. Blocks. */
    Outcome run(int code, boolean extended, BooleanSupplier aborted) {
        Result result = new Result(code, Outcome.ABORTED, -1);
        try (Arena arena = Arena.ofShared()) {
            result = read(code, extended ? EXTENDED_PIECES : SHORT_PIECES,
                    arena.allocate(PIECE_BYTES, device.limits().bufferAlignmentBytes()), aborted);
        } finally {
            end(result);
        }
        return result.outcome();
    }

    private Result read(int code, int pieces, MemorySegment room, BooleanSupplier aborted) {
        long end = System.nanoTime() + EXTENDED_S * NANOS_PER_S;
        long blocks = Math.min(PIECE_BYTES / device.blockSize(), device.blockCount());
        MemorySegment buffer = room.asSlice(0, blocks * device.blockSize());
        for (long lba : places(pieces, blocks)) {
            if (stopping() || aborted.getAsBoolean()) {
                return new Result(code, Outcome.ABORTED, -1);
            }
            if (System.nanoTime() - end > 0) {
                break;
            }
            try {
                device.read(lba, buffer);
            } catch (StorageException _) {
                return new Result(code, Outcome.FAILED, lba);
            }
        }
        return new Result(code, Outcome.PASSED, -1);
    }

    private List<Long> places(int pieces, long blocks) {
        long last = device.blockCount() - blocks;
        long count = Math.clamp(device.blockCount() / blocks, 1, pieces);
        var places = new ArrayList<Long>();
        for (long i = 0; i < count; i++) {
            places.add(count == 1 ? 0 : last / (count - 1) * i);
        }
        return places;
    }
}
