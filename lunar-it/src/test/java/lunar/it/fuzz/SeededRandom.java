package lunar.it.fuzz;

import java.util.List;
import java.util.SplittableRandom;

/** Random choices determined by a seed. */
final class SeededRandom {
    private static final int[] EDGES = {0, 1, 2, 3, 4, 7, 8, 0x7f, 0x80, 0xff, 0x100, 0x1ff, 0x200,
            0x201, 0x1fff, 0x2000, 0x2001, 0x7fff, 0x8000, 0xffff, 0x1_0000, 0x4_0000, 0x4_0001,
            0x10_0000, 0x40_0000, 0x40_0001, 0xff_ffff, 0x100_0000, 0x7fff_fe00, 0x7fff_ffff,
            0x8000_0000, 0x8000_0001, 0xffff_0000, 0xffff_fe00, 0xffff_fffe, 0xffff_ffff};

    private final SplittableRandom random;

    private SeededRandom(SplittableRandom random) { this.random = random; }

    /** The choices of one plan. */
    static SeededRandom of(long seed, long number) {
        // Neighbours must not be alike: the generator's own mixing takes care of that after one step.
        return new SeededRandom(
                new SplittableRandom(seed * 0x9e37_79b9_7f4a_7c15L + number).split());
    }

    int below(int bound) { return random.nextInt(bound); }

    int between(int low, int high) { return random.nextInt(low, high + 1); }

    boolean percent(int chance) { return random.nextInt(100) < chance; }

    boolean perMille(int chance) { return random.nextInt(1000) < chance; }

    long number() { return random.nextLong(); }

    <T> T of(List<T> choices) { return choices.get(random.nextInt(choices.size())); }

    @SafeVarargs
    final <T> T of(T... choices) { return choices[random.nextInt(choices.length)]; }

    int ofInts(int... choices) { return choices[random.nextInt(choices.length)]; }

    /** A number where something may begin or end, or one beside what stood there, or any. */
    int edge(int was) {
        return switch (random.nextInt(8)) {
            case 0 -> was + 1;
            case 1 -> was - 1;
            case 2 -> was + random.nextInt(-300, 300);
            case 3 -> was ^ 1 << random.nextInt(32);
            case 4 -> random.nextInt();
            default -> EDGES[random.nextInt(EDGES.length)];
        };
    }

    byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }
}
