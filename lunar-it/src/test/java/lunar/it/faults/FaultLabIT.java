package lunar.it.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs each scenario of the fault lab with a few faults; {@code make faults} runs more. */
@Timeout(value = 1, unit = TimeUnit.HOURS)
class FaultLabIT {
    private static final int TIMES = 3;

    @TempDir
    Path folder;

    static List<String> scenarios() { return Faults.ALL.stream().map(Scenario::name).toList(); }

    @ParameterizedTest
    @MethodSource("scenarios")
    void shouldLoseNothing(String name) throws Exception {
        Scenario scenario = Faults.ALL.stream().filter(each -> each.name().equals(name))
                .findFirst().orElseThrow();
        assumeTrue(scenario.missing().isEmpty(), scenario.missing());
        long seed = Seed.next();
        assertThat(Faults.playIn(scenario, TIMES, seed, folder.resolve("lab"))).as("seed " + seed)
                .isNotEmpty();
    }
}
