package lunar.target.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests the histogram of latencies. */
class LatenciesTest {
    private static Latencies of(int... buckets) {
        var counts = new ArrayList<>(Latencies.NONE.counts());
        long nanos = 0;
        for (int bucket : buckets) {
            counts.set(bucket, counts.get(bucket) + 1);
            nanos += 1000;
        }
        return new Latencies(counts, nanos);
    }

    @Test
    void shouldHaveBoundsFromTenMicrosecondsToTenSeconds() {
        assertThat(Latencies.BOUNDS_NANOS).startsWith(10_000L, 20_000L, 50_000L, 100_000L)
                .endsWith(2_000_000_000L, 5_000_000_000L, 10_000_000_000L).isSorted();
        assertThat(Latencies.BUCKETS).isEqualTo(20);
    }

    @Test
    void shouldTellTheBoundOfAQuantile() {
        Latencies some = of(0, 0, 1, 3);
        assertThat(some.quantileNanos(0.5)).isEqualTo(10_000);
        assertThat(some.quantileNanos(0.75)).isEqualTo(20_000);
        assertThat(some.quantileNanos(0.99)).isEqualTo(100_000);
        assertThat(of(19).quantileNanos(0.5)).as("beyond the last").isEqualTo(10_000_000_000L);
        assertThat(Latencies.NONE.quantileNanos(0.99)).isZero();
        assertThat(some.meanNanos()).isEqualTo(1000);
        assertThat(Latencies.NONE.meanNanos()).isZero();
    }

    @Test
    void shouldAddAndSubtract() {
        assertThat(of(0, 1).plus(of(1))).isEqualTo(of(0, 1, 1));
        assertThat(of(0, 1, 1).since(of(1))).isEqualTo(of(0, 1));
    }

    @Test
    void shouldRefuseAnotherNumberOfBuckets() {
        assertThatThrownBy(() -> new Latencies(List.of(1L), 0)).hasMessageContaining("20");
    }
}
