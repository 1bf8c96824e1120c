package lunar.testkit;

import java.util.Random;

/** The seed of a property test: random, unless {@code -Dlunar.seed=} replays one. */
public final class Seed {
    private Seed() {}

    /** The seed of this run. Put it into the assertion's description, so that a failure can be replayed. */
    public static long next() {
        String fixed = System.getProperty("lunar.seed", "");
        return fixed.isEmpty() ? new Random().nextLong() : Long.parseLong(fixed);
    }
}
