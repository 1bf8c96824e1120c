package lunar.osd.store.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Random;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Some simulations of stores; {@code scripts/simulate osd} plays many. */
class StoreSimulationTest {
    private static final int COUNT = 20;

    @TempDir
    Path folder;

    @Test
    void shouldKeepWhatWasAcknowledged() {
        long seed = new Random(Seed.next()).nextInt(1_000_000_000);
        var simulations = new StoreSimulations(folder, seed, COUNT);
        simulations.play();
        assertThat(simulations.failures()).isEmpty();
        assertThat(simulations.events()).containsKeys("KILL", "POWER_LOSS", "CLOSE", "flush");
    }

    /** A finding must be replayable. */
    @Test
    void shouldDependOnTheSeedAlone() {
        var first = new StoreSimulations(folder, 4711, 2);
        first.play();
        var second = new StoreSimulations(folder, 4711, 2);
        second.play();
        assertThat(second.events()).isEqualTo(first.events());
    }
}
