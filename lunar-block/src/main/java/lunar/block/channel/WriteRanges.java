package lunar.block.channel;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Ranges of blocks that writes hold, so that a write which reads a block, changes a few bytes and writes it back never
 * reverts what another write has put into the same block meanwhile. Waiting needs no thread.
 *
 * <p>A range takes its blocks from the first to the last and keeps those it has while it waits for the next, which
 * some other range holds. All ranges go upwards, so they cannot deadlock; a later range for those blocks waits behind
 * it, so a long range is not starved by short ones. Costs O(log n) among n ranges that are held or wait.
 */
final class WriteRanges {
    /** Blocks that a write wants or has. Its state is guarded by the lock of the ranges. */
    static final class Range {
        private final long first;
        private final long end;
        private final Runnable whenHeld;
        /** End of the blocks it holds, which begin at {@link #first}. */
        private long heldEnd;
        /** Its turn among those that wait. */
        private long turn;

        /**
         * @param first first block
         * @param end the block after the last
         * @param whenHeld runs once all are held, unless they were at once; must not block
         */
        Range(long first, long end, Runnable whenHeld) {
            assert first < end : first + " to " + end;
            this.first = first;
            this.end = end;
            this.whenHeld = whenHeld;
            this.heldEnd = first;
        }

        /** Runs {@code whenHeld}; the caller does so where {@link WriteRanges#acquire} got all blocks at once. */
        void held() {
            whenHeld.run();
        }
    }

    private static final Comparator<Range> BY_TURN = Comparator
            .comparingLong(range -> range.turn);

    private final ReentrantLock lock = new ReentrantLock();
    /** Ranges that hold blocks, by first block: disjoint. */
    private final TreeMap<Long, Range> held = new TreeMap<>();
    /** Ranges that wait, by the block each needs next, which some other range holds. */
    private final TreeMap<Long, PriorityQueue<Range>> waiting = new TreeMap<>();
    private long turns;
    /** Ranges that have become whole. One thread at a time runs them, so that a chain of them does not recurse. */
    private final Queue<Range> ready = new ConcurrentLinkedQueue<>();
    private final AtomicInteger readyCount = new AtomicInteger();

    /** Whether the range is held now; otherwise its {@code whenHeld} runs later. */
    boolean acquire(Range range) {
        lock.lock();
        try {
            range.turn = turns++;
            return advance(range);
        } finally {
            lock.unlock();
        }
    }

    /** Holds a range when it returns. An interrupt does not end the wait; the flag is set again. */
    Range acquireNow(long first, long end) {
        var latch = new CountDownLatch(1);
        var range = new Range(first, end, latch::countDown);
        if (acquire(range)) {
            return range;
        }
        boolean interrupted = false;
        while (true) {
            try {
                latch.await();
                break;
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return range;
    }

    /** Lets go of a range that is held as a whole. Runs what waited for it, on this thread or on one that does so. */
    void release(Range range) {
        int count = 0;
        lock.lock();
        try {
            Range was = held.remove(range.first);
            assert was == range && range.heldEnd == range.end : "released twice, or never held";
            for (long block : blocksWaitedFor(range)) {
                Range waiter = takeFirst(block);
                if (advance(waiter)) {
                    ready.add(waiter);
                    count++;
                }
            }
        } finally {
            lock.unlock();
        }
        if (count > 0 && readyCount.getAndAdd(count) == 0) {
            do {
                ready.remove().held();
            } while (readyCount.decrementAndGet() > 0);
        }
    }

    /** Blocks of a range that others wait for, in the order in which these came. */
    private List<Long> blocksWaitedFor(Range range) {
        NavigableMap<Long, PriorityQueue<Range>> queues = waiting.subMap(range.first, true,
                range.end, false);
        if (queues.isEmpty()) {
            return List.of();
        }
        var blocks = new ArrayList<Long>();
        queues.entrySet().stream()
                .sorted(Comparator.comparingLong(queue -> queue.getValue().element().turn))
                .forEach(queue -> blocks.add(queue.getKey()));
        return blocks;
    }

    private Range takeFirst(long block) {
        PriorityQueue<Range> queue = Objects.requireNonNull(waiting.get(block));
        Range first = queue.remove();
        if (queue.isEmpty()) {
            waiting.remove(block);
        }
        return first;
    }

    private void waitFor(long block, Range range) {
        waiting.computeIfAbsent(block, _ -> new PriorityQueue<>(BY_TURN)).add(range);
    }

    /** Takes what can be taken, and waits at the first block that another has. */
    private boolean advance(Range range) {
        assert lock.isHeldByCurrentThread();
        if (range.heldEnd == range.first) {
            Map.Entry<Long, Range> before = held.floorEntry(range.first);
            if (before != null && before.getValue().heldEnd > range.first) {
                waitFor(range.first, range);
                return false;
            }
            held.put(range.first, range);
        }
        Map.Entry<Long, Range> next = held.higherEntry(range.first);
        if (next == null || next.getKey() >= range.end) {
            range.heldEnd = range.end;
            return true;
        }
        range.heldEnd = next.getKey();
        waitFor(range.heldEnd, range);
        return false;
    }
}
