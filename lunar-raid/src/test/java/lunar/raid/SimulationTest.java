package lunar.raid;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.ArrayList;
import java.util.Random;
import java.util.function.UnaryOperator;
import lunar.raid.Simulation.Faults;
import lunar.raid.layout.Level;
import lunar.raid.layout.Plan;
import lunar.raid.layout.Planner;
import lunar.testkit.Seed;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Volumes on faulty members. {@code -Dlunar.simulations=100000} plays more than a build does. */
class SimulationTest {
    private static final int RUNS = Integer.getInteger("lunar.simulations", 15);
    private static final int STEPS = 1500;

    private static String play(Level level, long seed, Faults faults) {
        return new Simulation(level, seed, faults, UnaryOperator.identity()).run(STEPS);
    }

    @ParameterizedTest
    @EnumSource(Level.class)
    void shouldReadBackEverythingInSpiteOfFaults(Level level) {
        var seeds = new Random(Seed.next());
        for (int run = 0; run < RUNS; run++) {
            play(level, seeds.nextLong(), new Faults(level.isRedundant(), false, false));
        }
    }

    @ParameterizedTest
    @EnumSource(Level.class)
    void shouldKeepWhatWasFlushedThroughCrashes(Level level) {
        var seeds = new Random(Seed.next());
        for (int run = 0; run < RUNS; run++) {
            play(level, seeds.nextLong(), new Faults(level.isRedundant(), true, false));
        }
    }

    @ParameterizedTest
    @EnumSource(Level.class)
    void shouldHaveNoWriteHoleWithMetadata(Level level) {
        var seeds = new Random(Seed.next());
        for (int run = 0; run < RUNS; run++) {
            play(level, seeds.nextLong(), new Faults(level.isRedundant(), true, true));
        }
    }

    @ParameterizedTest
    @EnumSource(Level.class)
    void shouldDoTheSameAgainForTheSameSeed(Level level) {
        long seed = Seed.next();
        var faults = new Faults(level.isRedundant(), true, true);
        assertThat(play(level, seed, faults)).as("seed %d", seed)
                .isEqualTo(play(level, seed, faults)).hasSizeGreaterThan(100);
    }

    /** Forgets the parity of a small write when it is degraded, and then only. */
    private record Forgetful(Planner right) implements Planner {
        @Override
        public @Nullable Plan read(int from, int blocks, long unreadable, int preferred) {
            return right.read(from, blocks, unreadable, preferred);
        }

        @Override
        public @Nullable Plan write(int from, int blocks, long unreadable, long unwritable) {
            Plan plan = right.write(from, blocks, unreadable, unwritable);
            if (plan == null || unwritable == 0
                    || plan.method() != Plan.Method.READ_MODIFY_WRITE) {
                return plan;
            }
            var writes = new ArrayList<>(plan.writes());
            writes.removeIf(write -> !write.buffer());
            return new Plan(plan.method(), plan.reads(), plan.sums(), writes);
        }

        @Override
        public @Nullable Plan restore(long units, int from, int blocks, long unreadable) {
            return right.restore(units, from, blocks, unreadable);
        }

        @Override
        public @Nullable Plan verify(int from, int blocks, long unreadable) {
            return right.verify(from, blocks, unreadable);
        }
    }

    @Test
    void shouldCatchAPlannerThatIsWrongOnlyWhenDegraded() {
        var seeds = new Random(Seed.next());
        Throwable failure = null;
        for (int run = 0; run < 40 && failure == null; run++) {
            long seed = seeds.nextLong();
            failure = catchThrowable(() -> new Simulation(Level.RAID5, seed,
                    new Faults(true, false, false), Forgetful::new).run(STEPS));
        }
        assertThat(failure).isInstanceOf(AssertionError.class);
    }
}
