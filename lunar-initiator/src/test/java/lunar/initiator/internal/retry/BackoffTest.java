package lunar.initiator.internal.retry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class BackoffTest {
    private final Backoff backoff = new Backoff(100, 1000);

    private long[] pauses(int count, long usedMs) {
        return LongStream.range(0, count).map(_ -> backoff.nextMs(usedMs)).toArray();
    }

    @Test
    void shouldWaitLongerEachTimeWhileLoginsFail() {
        assertThat(pauses(6, 0)).containsExactly(100, 200, 400, 800, 1000, 1000);
    }

    @Test
    void shouldNotWaitLongerThanSessionsLast() { assertThat(pauses(5, 950)).containsOnly(100L); }

    @Test
    void shouldSlowDownWhereSessionsDoNotLast() {
        assertThat(pauses(5, 90)).containsExactly(100, 200, 400, 800, 1000);
    }

    @Test
    void shouldRestartBackoffAfterALongSession() {
        assertThat(pauses(4, 0)).endsWith(800);
        assertThat(backoff.nextMs(799)).isEqualTo(1000);
        assertThat(backoff.nextMs(1000)).isEqualTo(100);
        assertThat(backoff.nextMs(0)).isEqualTo(200);
    }

    @Test
    void shouldRestartAfterAReset() {
        assertThat(backoff.nextMs()).isEqualTo(100);
        assertThat(backoff.nextMs()).isEqualTo(200);
        backoff.reset();
        assertThat(backoff.nextMs()).isEqualTo(100);
    }
}
