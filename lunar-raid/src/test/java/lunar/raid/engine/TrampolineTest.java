package lunar.raid.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import lunar.raid.engine.member.Trampoline;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class TrampolineTest {
    private static final int DEEP = 100_000;

    private final List<Integer> run = new ArrayList<>();

    @Test
    void shouldRunDeferredWorkAfterWhatDefersIt() {
        Trampoline.run(() -> {
            Trampoline.run(() -> run.add(2));
            run.add(1);
        });
        assertThat(run).containsExactly(1, 2);
    }

    /** Each piece defers the next one, and throws. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldRunAllDeferredWorkThatThrows() {
        assertThatThrownBy(() -> Trampoline.run(() -> deferNext(0)))
                .isInstanceOf(IllegalStateException.class).hasMessage("0");
        assertThat(run).hasSize(DEEP);
        Trampoline.run(() -> run.add(-1));
        assertThat(run).as("at once, as before").endsWith(-1);
    }

    private void deferNext(int number) {
        run.add(number);
        if (number + 1 < DEEP) {
            Trampoline.run(() -> deferNext(number + 1));
        }
        throw new IllegalStateException(String.valueOf(number));
    }
}
