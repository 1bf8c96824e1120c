package lunar.filter;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

class RateTest {
    private static final long SECOND = 1_000_000_000;

    @Test
    void shouldAllowABurstOfATenthOfASecondAndThenKeepTheRate() {
        var rate = new Rate(1000);
        for (int i = 0; i <= 100; i++) {
            assertThat(rate.take(1, 0)).isZero();
        }
        for (int i = 1; i <= 1000; i++) {
            assertThat(rate.take(1, 0)).isEqualTo(i * SECOND / 1000);
        }
    }

    @Test
    void shouldNotSaveUpMoreThanABurst() {
        var rate = new Rate(1000);
        rate.take(100, 0);
        for (int i = 0; i <= 100; i++) {
            assertThat(rate.take(1, 3600 * SECOND)).isZero();
        }
        assertThat(rate.take(1, 3600 * SECOND)).isPositive();
    }

    @Test
    void shouldNeverGiveMoreThanTheRateWhateverTheClockBeginsWith() {
        long seed = Long.getLong("lunar.seed", new Random().nextLong());
        var random = new Random(seed);
        for (long origin : new long[]{Long.MIN_VALUE, -5, 0, Long.MAX_VALUE - SECOND}) {
            var rate = new Rate(1 << 20);
            long elapsed = 0;
            long taken = 0;
            for (int i = 0; i < 1000; i++) {
                elapsed += random.nextLong(SECOND / 100);
                long wait = rate.take(1 << 12, origin + elapsed);
                // What was taken before this must fit into the time until this may continue, plus the burst.
                double allowed = (elapsed + wait + Rate.BURST_NANOS) / 1e9 * (1 << 20);
                assertThat((double) taken).as("seed %d", seed).isLessThanOrEqualTo(allowed + 1);
                taken += 1 << 12;
            }
        }
    }
}
