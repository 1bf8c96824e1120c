package lunar.iser.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;

class TagMapTest {
    @Test
    void shouldBehaveLikeAHashMap() {
        var random = new Random(Seed.next());
        var map = new TagMap<String>();
        Map<Integer, String> model = new HashMap<>();
        for (int i = 0; i < 50_000; i++) {
            // Tags as an initiator assigns them, a slot with a generation in the upper bits, and some others.
            int tag = random.nextInt(4) == 0
                    ? random.nextInt(50) - 25
                    : random.nextInt(3) << 16 | random.nextInt(100);
            switch (random.nextInt(3)) {
                case 0 -> assertThat(map.put(tag, "v" + i)).isEqualTo(model.put(tag, "v" + i));
                case 1 -> assertThat(map.remove(tag)).isEqualTo(model.remove(tag));
                default -> assertThat(map.get(tag)).isEqualTo(model.get(tag));
            }
            assertThat(map.size()).isEqualTo(model.size());
        }
        assertThat(map.clear()).containsExactlyInAnyOrderElementsOf(model.values());
        assertThat(map.size()).isZero();
        model.keySet().forEach(tag -> assertThat(map.get(tag)).isNull());
    }
}
