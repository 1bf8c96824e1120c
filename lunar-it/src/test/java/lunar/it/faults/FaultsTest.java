package lunar.it.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class FaultsTest {
    @Test
    void shouldTellSkippedScenariosApartFromThoseThatHeld() {
        assertThat(Faults.summary(List.of("a", "b"), List.of(), List.of("c: no compiler"), 7))
                .isEqualTo("2 held, 1 skipped (c: no compiler), SEED=7");
    }

    @Test
    void shouldSayThatAllHeldOnlyWhereNoneWasSkipped() {
        assertThat(Faults.summary(List.of("a", "b"), List.of(), List.of(), 7))
                .isEqualTo("all 2 held, SEED=7");
    }

    @Test
    void shouldTellSkippedScenariosBesideFailures() {
        assertThat(Faults.summary(List.of("a"), List.of("b"), List.of("c: takes root"), 7))
                .isEqualTo("failed: b, 1 skipped (c: takes root), again with SEED=7");
    }
}
