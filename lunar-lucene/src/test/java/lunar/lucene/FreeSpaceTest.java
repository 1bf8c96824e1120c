package lunar.lucene;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;

class FreeSpaceTest {
    @Test
    void shouldMatchModelOfOneBitPerUnit() {
        long seed = Seed.next();
        var random = new Random(seed);
        var free = new FreeSpace(new UnitRun(10, 500));
        var model = new BitSet();
        model.set(10, 510);
        List<UnitRun> taken = new ArrayList<>();
        for (int step = 0; step < 5000; step++) {
            if (random.nextBoolean()) {
                UnitRun run = free.allocate(1 + random.nextInt(40), random.nextInt(520));
                if (run == null) {
                    assertThat(model.isEmpty()).as("seed %d", seed).isTrue();
                } else {
                    assertThat(model.nextClearBit((int) run.first())).as("seed %d", seed)
                            .isGreaterThanOrEqualTo((int) run.end());
                    model.clear((int) run.first(), (int) run.end());
                    taken.add(run);
                }
            } else if (random.nextInt(4) == 0) {
                int first = random.nextInt(520);
                var run = new UnitRun(first, 1 + random.nextInt(20));
                boolean all = model.nextClearBit(first) >= run.end();
                assertThat(free.reserve(run)).as("seed %d", seed).isEqualTo(all);
                if (all) {
                    model.clear(first, (int) run.end());
                    taken.add(run);
                }
            } else if (!taken.isEmpty()) {
                UnitRun run = taken.remove(random.nextInt(taken.size()));
                free.free(run);
                model.set((int) run.first(), (int) run.end());
            }
            assertThat(free.units()).as("seed %d", seed).isEqualTo(model.cardinality());
        }
        taken.forEach(free::free);
        assertThat(free.allocate(500, 0)).isEqualTo(new UnitRun(10, 500));
    }

    @Test
    void shouldAppendToAFileOrElseUseTheSmallestFit() {
        var free = new FreeSpace(new UnitRun(0, 100));
        free.reserve(new UnitRun(10, 5));
        free.reserve(new UnitRun(40, 5)); // 0-9, 15-39 and 45-99 are free
        assertThat(free.allocate(4, 15)).isEqualTo(new UnitRun(15, 4));
        assertThat(free.allocate(8, -1)).isEqualTo(new UnitRun(0, 8));
        assertThat(free.allocate(30, -1)).isEqualTo(new UnitRun(45, 30));
        assertThat(free.allocate(99, -1)).isEqualTo(new UnitRun(75, 25));
        assertThatThrownBy(() -> free.free(new UnitRun(30, 2)))
                .isInstanceOf(IllegalStateException.class);
    }
}
