package lunar.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import lunar.iscsi.spi.Polling;
import org.junit.jupiter.api.Test;

class PollWindowTest {
    private static final long MICROSECOND = 1_000;
    private static final long LIMIT = Polling.AUTO.maxNs();

    private final PollWindow adaptive = new PollWindow(Polling.AUTO);

    @Test
    void shouldStartClosedWhereItAdapts() {
        assertThat(adaptive.isOpen()).isTrue();
        assertThat(adaptive.ns()).isZero();
    }

    @Test
    void shouldGrowWhileWaitsAreLongerThanItAndWithinTheLimit() {
        adaptive.waited(60 * MICROSECOND);
        assertThat(adaptive.ns()).isEqualTo(10 * MICROSECOND);
        for (int i = 0; i < 3; i++) {
            adaptive.waited(60 * MICROSECOND);
        }
        assertThat(adaptive.ns()).isEqualTo(80 * MICROSECOND);
    }

    @Test
    void shouldStayWhereItCoversTheWaits() {
        for (int i = 0; i < 20; i++) {
            adaptive.waited(60 * MICROSECOND);
        }
        assertThat(adaptive.ns()).isEqualTo(80 * MICROSECOND);
    }

    @Test
    void shouldNotGrowBeyondTheLimit() {
        for (int i = 0; i < 20; i++) {
            adaptive.waited(LIMIT);
        }
        assertThat(adaptive.ns()).isEqualTo(LIMIT);
    }

    @Test
    void shouldCloseAfterAWaitLongerThanTheLimit() {
        for (int i = 0; i < 20; i++) {
            adaptive.waited(60 * MICROSECOND);
        }
        adaptive.waited(LIMIT + 1);
        assertThat(adaptive.ns()).isZero();
    }

    @Test
    void shouldStayOpenForAFixedTimeWhateverTheWaits() {
        var fixed = new PollWindow(Polling.of(Duration.ofMillis(1)));
        fixed.waited(1);
        fixed.waited(Long.MAX_VALUE);
        assertThat(fixed.ns()).isEqualTo(1_000 * MICROSECOND);
    }

    @Test
    void shouldNotPollWhereItIsOff() {
        var off = new PollWindow(Polling.OFF);
        off.waited(MICROSECOND);
        assertThat(off.isOpen()).isFalse();
        assertThat(off.ns()).isZero();
    }
}
