package lunar.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SizeTest {
    @ParameterizedTest
    @CsvSource({"0,0", "512,512", "512B,512", "4k,4096", "4K,4096", "64KiB,65536", "64kb,65536",
            "1M,1048576", "1GiB,1073741824", "2T,2199023255552", "1PiB,1125899906842624"})
    void shouldReadSizesAsPeopleWriteThem(String text, long bytes) {
        assertThat(Size.parse(text)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "k", "-1", "1.5G", "4 k", "4kk", "4Ki", "0x10", "1e3",
            "9999999999999999999", "999999999999999999P", "٣k"})
    void shouldRejectWhatIsNoSizeInOneLine(String text) {
        assertThatThrownBy(() -> Size.parse(text)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'" + text + "'").hasMessageNotContaining("\n");
    }

    @ParameterizedTest
    @CsvSource({"0,0 B", "1023,1023 B", "1024,1 KiB", "1536,1.5 KiB", "1073741824,1 GiB",
            "1099511627776,1 TiB", "9223372036854775807,8 EiB"})
    void shouldWriteSizesWithTheLargestUnit(long bytes, String text) {
        assertThat(Size.format(bytes)).isEqualTo(text);
    }
}
