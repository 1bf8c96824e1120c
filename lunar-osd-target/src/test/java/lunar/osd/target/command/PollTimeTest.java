package lunar.osd.target.command;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PollTimeTest {
    private final PollTime time = new PollTime(2);

    private void waited(int times, long ns) {
        for (int i = 0; i < times; i++) {
            time.waited(ns);
        }
    }

    @Test
    void shouldBeginWithoutPolling() { assertThat(time.ns()).isZero(); }

    @Test
    void shouldDoubleUntilItCoversTheWaits() {
        waited(1, 3 * PollTime.FIRST_NS);
        assertThat(time.ns()).isEqualTo(PollTime.FIRST_NS);
        waited(20, 3 * PollTime.FIRST_NS);
        assertThat(time.ns()).isEqualTo(4 * PollTime.FIRST_NS);
    }

    @Test
    void shouldNotGrowBeyondTheLimit() {
        waited(20, PollTime.MAX_NS);
        assertThat(time.ns()).isEqualTo(PollTime.MAX_NS);
    }

    @Test
    void shouldStopPollingAfterALongWait() {
        waited(20, PollTime.MAX_NS);
        time.waited(PollTime.MAX_NS + 1);
        assertThat(time.ns()).isZero();
    }

    @Test
    void shouldNotPollForAWhileWhereProcessorsAreShared() {
        waited(20, PollTime.MAX_NS);
        time.contended();
        waited(PollTime.WAITS, PollTime.FIRST_NS);
        assertThat(time.ns()).isZero();
        time.waited(PollTime.FIRST_NS);
        assertThat(time.ns()).isEqualTo(PollTime.FIRST_NS);
    }

    @Test
    void shouldNotPollOnASingleProcessor() {
        var single = new PollTime(1);
        single.waited(PollTime.FIRST_NS);
        assertThat(single.ns()).isZero();
    }
}
