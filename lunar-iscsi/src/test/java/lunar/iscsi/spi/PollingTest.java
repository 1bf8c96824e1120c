package lunar.iscsi.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PollingTest {
    @Test
    void shouldParseWhatOperatorsWrite() {
        assertThat(Polling.parse("off")).isEqualTo(Polling.OFF);
        assertThat(Polling.parse("auto")).isEqualTo(Polling.AUTO);
        assertThat(Polling.parse("50us")).isEqualTo(Polling.of(Duration.ofNanos(50_000)));
        assertThat(Polling.parse("1000ms")).isEqualTo(Polling.of(Duration.ofSeconds(1)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "on", "50", "0us", "-1us", "1s", "1001ms", "1000001us", "50 us"})
    void shouldRefuseOtherValues(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> Polling.parse(text))
                .withMessageContaining("write auto, off, or a time");
    }
}
