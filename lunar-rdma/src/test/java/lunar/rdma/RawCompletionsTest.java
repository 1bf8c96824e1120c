package lunar.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import lunar.rdma.spi.RawCompletions;
import org.junit.jupiter.api.Test;

class RawCompletionsTest {
    @Test
    void shouldKeepWhatIsBehindTheRemovedOnes() {
        var completions = new RawCompletions(4);
        for (int i = 0; i < 4; i++) {
            completions.addResult(10 + i, CompletionStatus.PEER_LOST, 20 + i);
        }
        completions.removeFirst(3);
        assertThat(completions.size()).isEqualTo(1);
        assertThat(completions.room()).isEqualTo(3);
        assertThat(completions.id(0)).isEqualTo(13);
        assertThat(completions.code(0)).isEqualTo(23);
        assertThat(completions.status(0)).isEqualTo(CompletionStatus.PEER_LOST);
        assertThatThrownBy(() -> completions.removeFirst(2))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void shouldNotChangeWhatIsKeptWhenMoreAreAdded() {
        var completions = new RawCompletions(3);
        for (int i = 0; i < 3; i++) {
            completions.add(10 + i, i);
        }
        completions.removeFirst(1);
        completions.grow();
        for (int i = 3; i < 10; i++) {
            completions.add(10 + i, i);
        }
        for (int i = 0; i < 9; i++) {
            assertThat(completions.id(i)).isEqualTo(11 + i);
            assertThat(completions.bytes(i)).isEqualTo(1 + i);
        }
    }
}
