package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the text of limits. */
class IoLimitTest {
    @Test
    void shouldParseEachPart() {
        assertThat(IoLimit.parse("500iops")).isEqualTo(
                new IoLimit(500, IoLimit.UNLIMITED, IoLimit.DEFAULT_BURST));
        assertThat(IoLimit.parse("burst=2s, 100MiB, 500iops"))
                .isEqualTo(new IoLimit(500, 100 << 20, Duration.ofSeconds(2)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"500iops", "100MiB", "1iops,1GiB", "1536KiB,burst=250ms",
            "7iops,1048577,burst=3600s"})
    void shouldWriteWhatItReads(String text) { assertThat(IoLimit.parse(text)).hasToString(text); }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            0iops             | permits nothing
            100MiB,0iops      | permits nothing
            1KiB              | from 1MiB
            2000TiB           | to 1TiB
            fast              | is not a rate
            -3iops            | not a number of commands
            xiops             | not a number of commands
            5iops,6iops       | twice
            1GiB,1GiB         | twice
            burst=1s          | needs commands or bytes
            5iops,burst=soon  | not a burst
            5iops,burst=0s    | from 1ms
            5iops,burst=9999s | to 3600s
            5iops,            | is not a rate
            ''                | is not a rate
            """)
    void shouldSayWhatIsWrong(String text, String message) {
        assertThatThrownBy(() -> IoLimit.parse(text)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }
}
