package lunar.filter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import lunar.block.Devices;
import lunar.block.StorageException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class CachePolicyTest {
    static List<CachePolicy.Factory> policies() {
        return List.of(CachePolicy.lru(), CachePolicy.s3Fifo());
    }

    @ParameterizedTest
    @MethodSource("policies")
    void shouldGiveUpEachSlotOnceAndNoneThatHoldsNothing(CachePolicy.Factory policies) {
        for (int seed = 0; seed < 50; seed++) {
            var random = new Random(seed);
            int slots = 1 + random.nextInt(30);
            CachePolicy policy = policies.create(slots);
            var held = new ArrayList<Integer>();
            var free = new ArrayList<Integer>();
            for (int slot = 0; slot < slots; slot++) {
                free.add(slot);
            }
            for (int step = 0; step < 3000; step++) {
                int what = random.nextInt(8);
                if (what < 4 && !held.isEmpty()) {
                    policy.used(held.get(random.nextInt(held.size())));
                } else if (what == 4 && !held.isEmpty()) {
                    int slot = held.remove(random.nextInt(held.size()));
                    policy.removed(slot);
                    free.add(slot);
                } else {
                    if (free.isEmpty()) {
                        Integer slot = policy.evict();
                        assertThat(held.remove(slot)).as("seed %d step %d", seed, step).isTrue();
                        free.add(slot);
                    }
                    int slot = free.removeLast();
                    policy.added(slot, random.nextInt(3 * slots));
                    held.add(slot);
                }
            }
            while (!held.isEmpty()) {
                Integer slot = policy.evict();
                assertThat(held.remove(slot)).as("seed %d", seed).isTrue();
            }
        }
    }

    /** Pages in use, then a scan over ten times the cache, which uses each page once. */
    private static long leftAfterScan(CachePolicy.Factory policy) throws StorageException {
        var below = new ToyDevice(8 * 8000);
        var cache = new CacheFilter(below, CacheOptions.of(400 * 4096).withReadAheadBytes(0)
                .withPolicy(policy));
        var page = MemorySegment.ofArray(new byte[4096]);
        for (int round = 0; round < 3; round++) {
            for (long lba = 0; lba < 8 * 200; lba += 8) {
                cache.read(lba, page);
            }
        }
        for (long lba = 8 * 4000; lba < 8 * 8000; lba += 8) {
            cache.read(lba, page);
        }
        long before = cache.statistics().hits();
        for (long lba = 0; lba < 8 * 200; lba += 8) {
            cache.read(lba, page);
        }
        return cache.statistics().hits() - before;
    }

    @Test
    void shouldKeepReusedBlocksThroughAScanUnlikeLru() throws StorageException {
        assertThat(leftAfterScan(CachePolicy.s3Fifo())).isEqualTo(200);
        assertThat(leftAfterScan(CachePolicy.lru())).isZero();
    }

    @Test
    void shouldEvictTheLeastRecentlyUsedFirst() {
        CachePolicy lru = CachePolicy.lru().create(4);
        for (int slot = 0; slot < 4; slot++) {
            lru.added(slot, 100 + slot);
        }
        lru.used(0);
        lru.removed(2);
        assertThat(List.of(lru.evict(), lru.evict(), lru.evict())).containsExactly(1, 3, 0);
    }

    @Test
    void shouldPromoteBlocksReadAgainSoon() {
        CachePolicy policy = CachePolicy.s3Fifo().create(10); // one of them small
        for (int slot = 0; slot < 10; slot++) {
            policy.added(slot, slot);
        }
        int first = policy.evict();
        assertThat(first).isZero();
        policy.added(first, 0); // the ghost queue knows it
        var evicted = new HashSet<Integer>();
        for (int i = 0; i < 9; i++) {
            evicted.add(policy.evict());
        }
        assertThat(evicted).doesNotContain(first);
    }

    @ParameterizedTest
    @ValueSource(strings = {"cache=64KiB", "cache=64KiB,policy=lru", "cache=1MiB,page=64KiB",
            "cache=1MiB,read-ahead=off,policy=s3-fifo", "schedule=fifo",
            "schedule=elevator,depth=2,merge=64KiB,deadline=20ms", "schedule=fifo,merge=off"})
    void shouldBeWrittenAsAFilter(String filter) {
        assertThatThrownBy(() -> Devices.open(filter + ":tape:x"))
                .hasMessageContaining("no device of scheme 'tape:'");
        assertThat(Devices.withoutFilters(filter + ":tape:x")).isEqualTo("tape:x");
    }
}
