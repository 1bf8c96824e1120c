package lunar.target.internal.task;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import lunar.target.status.Latencies;
import org.junit.jupiter.api.Test;

/** Tests the bucket of a duration, and the counts that need no task. */
class CommandCountersTest {
    @Test
    void shouldPutADurationIntoTheFirstBucketThatHoldsIt() {
        List<Long> bounds = Latencies.BOUNDS_NANOS;
        for (int i = 0; i < bounds.size(); i++) {
            assertThat(CommandCounters.bucket(bounds.get(i))).isEqualTo(i);
            assertThat(CommandCounters.bucket(bounds.get(i) + 1)).isEqualTo(i + 1);
        }
        assertThat(CommandCounters.bucket(0)).isZero();
        assertThat(CommandCounters.bucket(1)).isZero();
        assertThat(CommandCounters.bucket(Long.MAX_VALUE)).isEqualTo(Latencies.BUCKETS - 1);
    }

    @Test
    void shouldCountWhatIsInFlight() {
        var counters = new CommandCounters();
        counters.begun();
        counters.begun();
        counters.gone();
        counters.aborted();
        counters.refused();
        counters.delayed();
        assertThat(counters.snapshot().delayed()).isEqualTo(1);
        assertThat(counters.snapshot().inFlight()).isEqualTo(1);
        assertThat(counters.snapshot().aborted()).isEqualTo(1);
        assertThat(counters.snapshot().busy()).isEqualTo(1);
    }
}
