package lunar.bench.compare;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RegressionTest {
    /** By the sign test's tables: how many values from either end the interval with at least 93 % may leave out. */
    @ParameterizedTest
    @CsvSource({"1, 0", "3, 0", "5, 0", "8, 0", "9, 1", "10, 1", "12, 2", "20, 5"})
    void shouldLeaveOutAsManyAsTheSignTestAllows(int count, int cut) {
        assertThat(Regression.cut(count)).isEqualTo(cut);
    }

    @Test
    void shouldFindWhatIsSlowerInEachRound() {
        assertThat(Regression.of(List.of(0.8, 0.85, 0.7, 0.89, 0.82)).found()).isTrue();
    }

    @Test
    void shouldNotReportNoiseAsARegression() {
        Regression noisy = Regression.of(List.of(0.6, 0.7, 0.92, 0.8, 0.65));

        assertThat(noisy.ratios().median()).isEqualTo(0.7);
        assertThat(noisy.found()).isFalse();
        assertThat(noisy.verdict()).isEqualTo("no worse, as far as can be told");
    }

    @Test
    void shouldNotDecideByFewRounds() {
        assertThat(Regression.of(List.of(0.5, 0.5, 0.5, 0.5)).found()).isFalse();
        assertThat(Regression.of(List.of(0.5, 0.5)).verdict()).isEqualTo("too few rounds");
    }

    @Test
    void shouldTolerateADifferenceOfATenth() {
        assertThat(Regression.of(List.of(0.91, 0.92, 0.91, 0.93, 0.9)).found()).isFalse();
    }

    @Test
    void shouldNotLetOneOddRoundOfManyHideARegression() {
        Regression slower = Regression
                .of(List.of(0.8, 0.81, 0.8, 0.79, 1.4, 0.82, 0.8, 0.78, 0.8, 0.8));

        assertThat(slower.high()).isEqualTo(0.82);
        assertThat(slower.found()).isTrue();
    }
}
