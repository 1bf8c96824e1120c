package lunar.cli.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import lunar.cli.command.Failure;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TomlSourceTest {
    @TempDir
    Path folder;

    private List<String> errors(String text) throws IOException, Failure {
        Path file = Files.writeString(folder.resolve("lunar.toml"), text);
        return ConfigCheck.check(file).stream().map(error -> error.place() + " " + error.message())
                .toList();
    }

    /** Lists of devices, the last of which does not exist; N is a line break. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {"luns = ['tape:x'] | 1:9",
            "luns = ['ram:1M', 'tape:x'] | 1:19", "luns = [N'ram:1M',N  'tape:x'] | 3:3",
            "luns = [RN\t'tape:x'RN] | 2:2", "luns = [ # ['tape:x']NNN # \u20ac, #N'tape:x'] | 5:1",
            "luns = ['ram:1M', # oneN'ram:1M',N# two \ud83d\ude00N 'tape:x'] | 4:2",
            "N#\ud83d\ude00Nluns = ['ram:1M#\ud83d\ude00', 'tape:x'] | 3:21",
            "luns = [N  { lun = 3, uri = 'tape:x' }] | 2:14"})
    void shouldFindTheFirstCharacterOfAnElement(String text, String place)
            throws IOException, Failure {
        assertThat(errors(text.replace('N', '\n').replace('R', '\r')).getLast())
                .startsWith(place + " ").contains("tape:");
    }

    @Test
    void shouldAcceptAByteOrderMark() throws IOException, Failure {
        assertThat(errors("\uFEFFluns = ['ram:1M']\n")).isEmpty();
        assertThat(errors("\uFEFFlun = 1\n")).first().asString().startsWith("1:1 unknown key");
    }

    @Test
    void shouldReportNestingThatIsTooDeep() throws IOException, Failure {
        assertThat(errors("luns = " + "[".repeat(100_000) + "\n"))
                .containsExactly("1:1 not TOML: its lists or tables are nested too deeply");
    }

    @Test
    void shouldRefuseAFileThatIsTooLong() throws IOException {
        Path file = folder.resolve("long.toml");
        try (var sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.setLength(TomlSource.MAX_BYTES + 1L);
        }
        assertThatThrownBy(() -> ConfigCheck.check(file)).isInstanceOf(Failure.class)
                .hasMessageContaining("at most 16 MiB");
    }

    @Test
    void shouldRequireQuotesAroundADate() throws IOException, Failure {
        assertThat(errors("iqn = 2026-11-26\nluns = ['ram:1M']\n"))
                .contains("1:1 'iqn' must be a string in quotes");
    }
}
