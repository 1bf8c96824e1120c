package lunar.cli.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SpellingTest {
    private static final List<String> KEYS = List.of("luns", "lun", "chap", "mutual-chap",
            "sessions-per-target", "iqn");

    @ParameterizedTest
    @CsvSource({"luns2, luns", "lnus, luns", "LUNS, luns", "mutual_chap, mutual-chap", "cahp, chap",
            "sesions-per-taget, sessions-per-target", "iqm, iqn"})
    void shouldFindTheNearestWord(String word, String meant) {
        assertThat(Spelling.nearest(word, KEYS)).contains(meant);
    }

    @ParameterizedTest
    @CsvSource({"colour", "x", "portal"})
    void shouldFindNothingForAnotherWord(String word) {
        assertThat(Spelling.nearest(word, KEYS)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"abc, abc, 0", "abc, ab, 1", "abc, acb, 1", "'', abc, 3", "kitten, sitting, 3"})
    void shouldCountEdits(String from, String to, int edits) {
        assertThat(Spelling.distance(from, to)).isEqualTo(edits);
    }
}
