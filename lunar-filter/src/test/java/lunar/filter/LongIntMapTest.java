package lunar.filter;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LongIntMapTest {
    /** Few keys in a full map, so that runs of neighbours form, wrap at the end, and are taken apart. */
    @Test
    void shouldMatchHashMap() {
        for (int seed = 0; seed < 50; seed++) {
            var random = new Random(seed);
            int entries = 1 + random.nextInt(40);
            var map = new LongIntMap(entries);
            var model = new HashMap<Long, Integer>();
            for (int step = 0; step < 2000; step++) {
                long key = random.nextInt(3 * entries) - entries;
                if (random.nextBoolean() && (model.size() < entries || model.containsKey(key))) {
                    map.put(key, step);
                    model.put(key, step);
                } else {
                    Integer removed = model.remove(key);
                    assertThat(map.remove(key)).as("seed %d step %d", seed, step)
                            .isEqualTo(removed == null ? LongIntMap.NONE : removed);
                }
                for (long probe = -entries; probe < 2L * entries; probe++) {
                    assertThat(map.get(probe)).as("seed %d step %d", seed, step)
                            .isEqualTo(model.getOrDefault(probe, LongIntMap.NONE));
                }
            }
        }
    }
}
