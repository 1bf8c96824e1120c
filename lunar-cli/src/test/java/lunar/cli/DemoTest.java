package lunar.cli;

import lunar.cli.command.Failure;
import lunar.cli.copy.PatternCheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import lunar.block.Devices;
import org.junit.jupiter.api.Test;

class DemoTest {
    private static final long SHORT_NS = TimeUnit.MILLISECONDS.toNanos(20);

    @Test
    void shouldFindWrongData() throws Exception {
        try (var right = Devices.open("ram:1MiB")) {
            assertThat(new PatternCheck(right, 1, 8).run(2, SHORT_NS)).isPositive();
        }
        try (var wrong = Devices.open("fault=1,kind=corrupt,op=read:ram:1MiB")) {
            assertThatThrownBy(() -> new PatternCheck(wrong, 1, 8).run(2, SHORT_NS))
                    .isInstanceOf(Failure.class).hasMessageContaining("seed 1");
        }
    }

    @Test
    void shouldWarmUpWithoutOutput() {
        CommandRun run = CommandRun.of("warm-up").succeeds();
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).isEmpty();
    }
}
