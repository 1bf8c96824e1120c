package lunar.raid.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.time.Duration;
import java.util.Random;
import lunar.raid.layout.Level;
import lunar.testkit.Seed;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Volumes on faulty members; {@code make simulate} plays more than a build does. */
class SimulationTest {
    private static final int RUNS = 30;
    /** A simulation takes milliseconds: one that goes round in a circle fails, with its seed and its stack. */
    private static final Duration HANGS = Duration.ofMinutes(5);

    private static Simulation simulation(Level level, long seed, boolean crashes,
            boolean metadata) {
        return new Simulation(level, seed, new Faults(level.isRedundant(), crashes, metadata),
                Rules.RIGHT);
    }

    private static void play(Level level, boolean crashes, boolean metadata) {
        var seeds = new Random(Seed.next());
        for (int run = 0; run < RUNS; run++) {
            play(simulation(level, seeds.nextLong(), crashes, metadata));
        }
    }

    private static String play(Simulation simulation) {
        return assertTimeoutPreemptively(HANGS, () -> simulation.run(), simulation::toString);
    }

    @ParameterizedTest
    @EnumSource(Level.class)
    void shouldReadBackEverythingInSpiteOfFaults(Level level) { play(level, false, false); }

    @ParameterizedTest
    @EnumSource(Level.class)
    void shouldKeepWhatWasFlushedThroughCrashes(Level level) { play(level, true, false); }

    @ParameterizedTest
    @EnumSource(Level.class)
    void shouldHaveNoWriteHoleWithMetadata(Level level) { play(level, true, true); }

    @ParameterizedTest
    @EnumSource(names = {"RAID1", "RAID5", "RAID6", "RAID10"})
    void shouldFindOutWhichSideIsWrongByChecksums(Level level) {
        var seeds = new Random(Seed.next());
        for (int run = 0; run < RUNS; run++) {
            play(new Simulation(level, seeds.nextLong(),
                    new Faults(true, run % 3 > 0, true, true).withCaches(run % 2 > 0),
                    Rules.RIGHT));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"RAID1", "RAID5", "RAID6", "RAID10"})
    void shouldKeepEverythingThoughMembersLoseTheirCachesAndAreCutOff(Level level) {
        var seeds = new Random(Seed.next());
        for (int run = 0; run < RUNS; run++) {
            play(new Simulation(level, seeds.nextLong(),
                    new Faults(true, run % 3 > 0, run % 2 > 0).withCaches(true), Rules.RIGHT));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"RAID5", "RAID6"})
    void shouldKeepEverythingThroughCrashesThoughBlocksAreUnreadable(Level level) {
        var seeds = new Random(Seed.next());
        for (int run = 0; run < 2 * RUNS; run++) {
            play(new Simulation(level, seeds.nextLong(),
                    new Faults(true, true, true).withUnreadable(true), Rules.RIGHT));
        }
    }

    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID0", "RAID5", "RAID6", "RAID10"})
    void shouldKeepEverythingWhileBlocksMoveToMoreMembers(Level level) {
        var seeds = new Random(Seed.next());
        for (int run = 0; run < RUNS; run++) {
            play(Simulation.growing(level, seeds.nextLong(), Rules.RIGHT));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"RAID1", "RAID5", "RAID6", "RAID10"})
    void shouldFailReadsOfWhatIsLostAndNoOthers(Level level) {
        var seeds = new Random(Seed.next());
        for (int run = 0; run < RUNS; run++) {
            play(new Simulation(level, seeds.nextLong(),
                    new Faults(true, run % 3 > 0, true).withExcess(), Rules.RIGHT));
        }
    }

    @ParameterizedTest
    @EnumSource(Level.class)
    void shouldDoTheSameAgainForTheSameSeed(Level level) {
        long seed = Seed.next();
        Simulation first = simulation(level, seed, true, true);
        Simulation again = simulation(level, seed, true, true);
        assertThat(play(first)).as("seed %d", seed).isEqualTo(play(again))
                .hasSizeGreaterThan(50);
        assertThat(first.tally().all()).as("seed %d", seed).isEqualTo(again.tally().all());
    }
}
