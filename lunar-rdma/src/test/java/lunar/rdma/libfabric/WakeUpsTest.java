package lunar.rdma.libfabric;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WakeUpsTest {
    @Test
    void shouldAdmitOneForEachSleep() {
        var wakeUps = new WakeUps();
        assertThat(wakeUps.take(0)).isFalse();
        assertThat(wakeUps.take(1)).isTrue();
        assertThat(wakeUps.take(1)).isFalse();
        assertThat(wakeUps.take(0)).isFalse();
        assertThat(wakeUps.take(2)).isTrue();
        assertThat(wakeUps.take(2)).isFalse();
    }
}
