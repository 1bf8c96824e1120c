package lunar.block;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** This module has no device of its own, so every URI must end in one clear line. */
class DevicesTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
            "tape:x | no device of scheme 'tape:'; there are",
            "tape=1:x | no device of scheme 'tape=1:'; there are",
            "disk.img | is not a device URI"})
    void shouldSayInOneLineWhatIsWrong(String uri, String message) {
        assertThatThrownBy(() -> Devices.open(uri)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message).hasMessageNotContaining("\n");
    }
}
