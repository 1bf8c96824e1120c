package lunar.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class QueuePairNumbersTest {
    private final QueuePairNumbers numbers = new QueuePairNumbers();

    @Test
    void shouldBeEmptyAtFirst() {
        assertThat(numbers.get(0)).isZero();
        assertThat(numbers.get(17)).isZero();
    }

    @Test
    void shouldKeepNumbersWithEqualHashes() {
        for (int i = 0; i < 8; i++) {
            numbers.put(i * 1024, i + 1);
        }
        numbers.retire(1024);
        numbers.removeRetired();
        assertThat(numbers.get(1024)).isZero();
        assertThat(numbers.get(0)).isEqualTo(1);
        assertThat(numbers.get(7 * 1024)).isEqualTo(8);
    }

    @Test
    void shouldKeepRetiredNumberUntilItIsRemoved() {
        numbers.put(5, 1);
        numbers.put(6, 2);
        numbers.retire(5);
        numbers.retire(6);
        assertThat(numbers.get(5)).isEqualTo(1);
        numbers.put(5, 3); // another queue pair has got the number
        numbers.removeRetired();
        assertThat(numbers.get(5)).isEqualTo(3);
        assertThat(numbers.get(6)).isZero();
    }

    @Test
    void shouldBehaveLikeAHashMap() {
        var random = new SplittableRandom(7);
        Map<Integer, Integer> model = new HashMap<>();
        for (int step = 0; step < 2000; step++) {
            int number = random.nextInt(300) * 16 - 800;
            if (random.nextInt(3) == 0) {
                numbers.retire(number);
                numbers.removeRetired();
                model.remove(number);
            } else {
                numbers.put(number, step + 1);
                model.put(number, step + 1);
            }
            int other = random.nextInt(300) * 16 - 800;
            assertThat(numbers.get(other)).isEqualTo(model.getOrDefault(other, 0));
        }
    }
}
