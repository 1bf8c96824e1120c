package lunar.target.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TsihsTest {
    @Test
    void shouldAllocateEachTsihOnceUntilExhausted() {
        var tsihs = new Tsihs();
        Set<Integer> given = new HashSet<>();
        for (int i = 0; i < Tsihs.COUNT; i++) {
            given.add(tsihs.claim().orElseThrow());
        }
        assertThat(given).hasSize(0xffff).doesNotContain(0);
        assertThat(tsihs.claim()).isEmpty();
        tsihs.release(7);
        assertThat(tsihs.claim()).isEqualTo(OptionalInt.of(7));
        assertThat(tsihs.claim()).isEmpty();
    }

    @Test
    void shouldNotReuseATsihSoon() {
        var tsihs = new Tsihs();
        int first = tsihs.claim().orElseThrow();
        tsihs.release(first);
        for (int i = 1; i < Tsihs.COUNT; i++) {
            int next = tsihs.claim().orElseThrow();
            assertThat(next).isNotEqualTo(first);
            tsihs.release(next);
        }
        assertThat(tsihs.claim()).isEqualTo(OptionalInt.of(first));
    }
}
