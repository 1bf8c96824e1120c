package lunar.target.internal.task;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import lunar.target.IoLimit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the rates that a limiter admits, at times that the test supplies. */
class RateLimiterTest {
    private static final long SECOND = 1_000_000_000;
    private static final long MIB = 1 << 20;

    private static RateLimiter limiter(String limit, long nowNanos) {
        return new RateLimiter(IoLimit.parse(limit), nowNanos);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -5, Long.MAX_VALUE - SECOND, Long.MIN_VALUE + SECOND})
    void shouldSpaceCommands(long start) {
        RateLimiter limiter = limiter("10iops", start);
        for (int i = 0; i < 100; i++) {
            assertThat(limiter.take(512, start)).isEqualTo(i * SECOND / 10);
        }
        assertThat(limiter.isPaid(start + 10 * SECOND - 1)).isFalse();
        assertThat(limiter.isPaid(start + 10 * SECOND)).isTrue();
    }

    @Test
    void shouldWaitForTheSlowerOfBothRates() {
        RateLimiter limiter = limiter("1000iops,1MiB", 0);
        assertThat(limiter.take(4 * MIB, 0)).as("a transfer above the rate is admitted").isZero();
        assertThat(limiter.take(512, 0)).isEqualTo(4 * SECOND);
        assertThat(limiter.take(0, 4 * SECOND)).isLessThan(SECOND / 1000);
    }

    @Test
    void shouldMakeUpForUnusedTimeWithinTheBurst() {
        RateLimiter limiter = limiter("10iops,burst=1s", 0);
        long now = 100 * SECOND;
        for (int i = 0; i <= 10; i++) {
            assertThat(limiter.take(512, now)).as("command " + i).isZero();
        }
        assertThat(limiter.take(512, now)).isEqualTo(SECOND / 10);
    }

    @Test
    void shouldAdmitTheRateOverTimeHoweverCommandsArrive() {
        RateLimiter limiter = limiter("1000iops,100MiB", 0);
        long now = 0;
        long bytes = 0;
        var random = ThreadLocalRandom.current();
        while (now < 60 * SECOND) {
            long size = random.nextLong(1, 2 * MIB);
            bytes += size;
            now += limiter.take(size, now) + random.nextLong(SECOND / 1000);
        }
        assertThat((double) bytes).isBetween(60 * 100 * MIB * 0.99, 60 * 100 * MIB * 1.01);
    }

    @Test
    void shouldTakeBackWhatWasNotUsed() {
        RateLimiter limiter = limiter("10iops,1MiB", 0);
        assertThat(limiter.take(MIB, 0)).isZero();
        assertThat(limiter.take(MIB, 0)).isEqualTo(SECOND);
        limiter.giveBack(MIB);
        assertThat(limiter.take(MIB, 0)).isEqualTo(SECOND);
        limiter.takeMore(-MIB / 2);
        limiter.takeMore(MIB);
        assertThat(limiter.take(0, 0)).isEqualTo(5 * SECOND / 2);
    }

    @Test
    void shouldBeKeptWhileItsLimitIsUnchanged() {
        RateLimiter before = RateLimiter.of(Optional.of(IoLimit.parse("10iops")), null);
        assertThat(RateLimiter.of(Optional.of(IoLimit.parse("10iops")), before)).isSameAs(before);
        assertThat(RateLimiter.of(Optional.of(IoLimit.parse("20iops")), before))
                .isNotSameAs(before).isNotNull();
        assertThat(RateLimiter.of(Optional.empty(), before)).isNull();
    }
}
