package lunar.initiator.path;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BackoffTest {
    private final Backoff backoff = new Backoff(100, 1000);

    private int[] pauses(int count, long usedMs) {
        return IntStream.range(0, count).map(_ -> backoff.next(usedMs)).toArray();
    }

    @Test
    void shouldWaitLongerEachTimeWhileLoginsFail() {
        assertThat(pauses(6, 0)).containsExactly(100, 200, 400, 800, 1000, 1000);
    }

    @Test
    void shouldNotWaitLongerThanSessionsLast() { assertThat(pauses(5, 950)).containsOnly(100); }

    @Test
    void shouldSlowDownWhereSessionsDoNotLast() {
        assertThat(pauses(5, 90)).containsExactly(100, 200, 400, 800, 1000);
    }

    @Test
    void shouldBeginAnewAfterASessionThatLasted() {
        assertThat(pauses(4, 0)).endsWith(800);
        assertThat(backoff.next(799)).isEqualTo(1000);
        assertThat(backoff.next(1000)).isEqualTo(100);
        assertThat(backoff.next(0)).isEqualTo(200);
    }
}
