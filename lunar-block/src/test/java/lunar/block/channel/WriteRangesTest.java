package lunar.block.channel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class WriteRangesTest {
    private final WriteRanges ranges = new WriteRanges();
    private final List<String> held = new ArrayList<>();

    private WriteRanges.Range want(String name, long first, long end) {
        var range = new WriteRanges.Range(first, end, () -> held.add(name));
        if (ranges.acquire(range)) {
            held.add(name);
        }
        return range;
    }

    @Test
    void shouldGiveDisjointRangesAtOnceAndOverlappingOnesInTurn() {
        var a = want("a", 0, 10);
        var b = want("b", 9, 12);
        var c = want("c", 12, 20);
        var d = want("d", 0, 1);
        assertThat(held).containsExactly("a", "c");
        ranges.release(a);
        assertThat(held).containsExactly("a", "c", "b", "d");
        ranges.release(b);
        ranges.release(c);
        ranges.release(d);
        want("e", 0, 100);
        assertThat(held).endsWith("e");
    }

    @Test
    void shouldNotStarveALongRangeBehindShortOnesThatKeepComing() {
        var low = want("low", 5, 6);
        var high = want("high", 8, 9);
        want("long", 0, 10);
        want("late", 2, 3); // the long one has these already
        ranges.release(low);
        var later = want("later", 8, 9);
        assertThat(held).containsExactly("low", "high");
        ranges.release(high);
        assertThat(held).containsExactly("low", "high", "long");
        assertThat(later).isNotNull();
    }

    @Test
    void shouldGoThroughALongQueueWithoutDeepRecursion() {
        int count = 100_000;
        var first = want("first", 3, 4);
        var done = new AtomicInteger();
        for (int i = 0; i < count; i++) {
            var slot = new WriteRanges.Range[1];
            slot[0] = new WriteRanges.Range(3, 4, () -> {
                done.incrementAndGet();
                ranges.release(slot[0]);
            });
            assertThat(ranges.acquire(slot[0])).isFalse();
        }
        ranges.release(first);
        assertThat(done).hasValue(count);
    }

    @Test
    @Timeout(600)
    void shouldNeverLetTwoHaveABlockUnderManyThreads() throws Exception {
        long seed = new Random().nextLong();
        var inUse = new BitSet(64);
        var failures = new AtomicInteger();
        var threads = new ArrayList<Thread>();
        for (int thread = 0; thread < 8; thread++) {
            var random = new Random(seed + thread);
            threads.add(Thread.ofPlatform().start(() -> {
                for (int i = 0; i < 3000; i++) {
                    int first = random.nextInt(60);
                    int end = first + 1 + random.nextInt(64 - first);
                    WriteRanges.Range range = ranges.acquireNow(first, end);
                    synchronized (inUse) {
                        if (inUse.nextSetBit(first) >= 0 && inUse.nextSetBit(first) < end) {
                            failures.incrementAndGet();
                        }
                        inUse.set(first, end);
                    }
                    if (i % 16 == 0) {
                        Thread.yield();
                    }
                    synchronized (inUse) {
                        inUse.clear(first, end);
                    }
                    ranges.release(range);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(failures).as("seed %d", seed).hasValue(0);
    }
}
