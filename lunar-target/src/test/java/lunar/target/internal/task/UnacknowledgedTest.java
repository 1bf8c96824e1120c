package lunar.target.internal.task;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;

class UnacknowledgedTest {
    private static final int PING_BYTES = 64 << 10;

    /** An initiator may ping with data, read the answers and acknowledge none. */
    @Test
    void shouldKeepEchoedPingsWithinItsLimitTheNewestOfThem() {
        var kept = new Unacknowledged(Long.MAX_VALUE);
        int count = 200;
        for (int statSn = 0; statSn < count; statSn++) {
            kept.add(new Unacknowledged.Sent(statSn, MemorySegment.NULL,
                    MemorySegment.ofArray(new byte[PING_BYTES]), null, 0));
        }
        List<Unacknowledged.Sent> left = kept.run(0, 0);
        assertThat(left).hasSize(Unacknowledged.MAX_COPIED_BYTES / PING_BYTES);
        assertThat(left.getLast().statSn()).isEqualTo(count - 1);

        kept.acknowledge(count - 1);
        assertThat(kept.run(0, 0)).hasSize(1);
        kept.clear();
        kept.add(new Unacknowledged.Sent(count, MemorySegment.NULL,
                MemorySegment.ofArray(new byte[PING_BYTES]), null, 0));
        assertThat(kept.run(0, 0)).as("what was given up does not count any more").hasSize(1);
    }
}
