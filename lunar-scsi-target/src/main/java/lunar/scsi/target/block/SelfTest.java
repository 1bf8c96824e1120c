package lunar.scsi.target.block;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import lunar.block.BlockDevice;
import lunar.block.StorageException;
import lunar.scsi.AdditionalSense;
import org.jspecify.annotations.Nullable;

/**
 * Self-tests of a logical unit (SPC-5 section 5.15): reads pieces evenly distributed over the medium. One test runs at
 * a time. Thread-safe.
 */
final class SelfTest {
    /**
     * Maximum duration of an extended self-test, as reported in the Control mode page; a longer test ends successfully
     * at this time.
     */
    static final int EXTENDED_S = 60;

    private static final int PIECE_BYTES = 256 << 10;
    private static final int SHORT_PIECES = 16;
    private static final int EXTENDED_PIECES = 1024;
    private static final long NANOS_PER_S = 1_000_000_000L;
    /** Maximum number of results in the log page (SPC-5 section 7.3.17). */
    private static final int MAX_RESULTS = 20;

    /** Outcome of a self-test, with the code of SELF-TEST RESULTS. */
    enum Outcome {
        PASSED(0),
        /** Aborted by the SEND DIAGNOSTIC that is for this purpose. */
        ABORTED(1),
        /** Aborted by a task management function or by a command that ends tests. */
        ABORTED_OTHERWISE(2),
        FAILED(7),
        /** Still running. */
        IN_PROGRESS(15);

        private final int code;

        Outcome(int code) { this.code = code; }

        int code() { return code; }
    }

    /** @param lba first unreadable block, or -1 */
    record Result(int selfTestCode, Outcome outcome, long lba) {}

    /** A running test. */
    private static final class Running {
        private final int code;
        private final boolean background;
        private final LongOperation operation = new LongOperation(
                AdditionalSense.SELF_TEST_IN_PROGRESS);
        private volatile @Nullable Outcome stopping;

        Running(int code, boolean background) {
            this.code = code;
            this.background = background;
        }
    }

    private final BlockDevice device;
    private final Deque<Result> results = new ArrayDeque<>();
    private @Nullable Running running;

    SelfTest(BlockDevice device) { this.device = device; }

    /** Begins a test, which the caller then runs; returns false if one is running. */
    synchronized boolean begin(int code, boolean background) {
        if (running != null) {
            return false;
        }
        running = new Running(code, background);
        return true;
    }

    /** Aborts the test that runs in the background; returns false if there is none. */
    boolean abortBackground() {
        return stopBackground(Outcome.ABORTED);
    }

    /** Stops the test that runs in the background, if one does, for a command that needs the unit for itself. */
    void stopBackground() {
        boolean _ = stopBackground(Outcome.ABORTED_OTHERWISE);
    }

    private synchronized boolean stopBackground(Outcome how) {
        Running test = running;
        if (test == null || !test.background) {
            return false;
        }
        test.stopping = how;
        return true;
    }

    /** Stops any running test, for a reset. */
    synchronized void stop() {
        Running test = running;
        if (test != null) {
            test.stopping = Outcome.ABORTED_OTHERWISE;
        }
    }

    /** Returns the background test, for reporting its progress. */
    synchronized Optional<LongOperation> inBackground() {
        return Optional.ofNullable(running).filter(test -> test.background)
                .map(test -> test.operation);
    }

    /** Returns the results, newest first; the first one may be of a running test. */
    synchronized List<Result> results() {
        var all = new ArrayList<Result>();
        if (running != null) {
            all.add(new Result(running.code, Outcome.IN_PROGRESS, -1));
        }
        all.addAll(results);
        return all.subList(0, Math.min(all.size(), MAX_RESULTS));
    }

    private synchronized void end(Result result) {
        running = null;
        results.addFirst(result);
        if (results.size() > MAX_RESULTS) {
            results.removeLast();
        }
    }

    /** Runs the test that was begun. Blocks. */
    Outcome run(boolean extended, BooleanSupplier aborted) {
        Running test;
        synchronized (this) {
            test = Objects.requireNonNull(running);
        }
        Result result = new Result(test.code, Outcome.ABORTED_OTHERWISE, -1);
        try (Arena arena = Arena.ofShared()) {
            result = read(test, extended ? EXTENDED_PIECES : SHORT_PIECES,
                    arena.allocate(PIECE_BYTES, device.limits().bufferAlignmentBytes()), aborted);
        } finally {
            end(result);
        }
        return result.outcome();
    }

    private Result read(Running test, int pieces, MemorySegment room, BooleanSupplier aborted) {
        long end = System.nanoTime() + EXTENDED_S * NANOS_PER_S;
        long blocks = Math.min(PIECE_BYTES / device.blockSize(), device.blockCount());
        MemorySegment buffer = room.asSlice(0, blocks * device.blockSize());
        List<Long> places = places(pieces, blocks);
        for (int i = 0; i < places.size() && System.nanoTime() - end < 0; i++) {
            Outcome stopped = aborted.getAsBoolean() ? Outcome.ABORTED_OTHERWISE : test.stopping;
            if (stopped != null) {
                return new Result(test.code, stopped, -1);
            }
            try {
                device.read(places.get(i), buffer);
            } catch (StorageException _) {
                return new Result(test.code, Outcome.FAILED, places.get(i));
            }
            test.operation.progress(i + 1, places.size());
        }
        return new Result(test.code, Objects.requireNonNullElse(test.stopping, Outcome.PASSED), -1);
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
