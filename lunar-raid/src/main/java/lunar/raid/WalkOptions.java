package lunar.raid;

import java.util.function.Consumer;

/**
 * How a walk over the stripes goes.
 *
 * @param from the stripe to begin with, where the walk has no checkpoint of its own
 * @param pace how fast
 * @param batch stripes at once; they are locked together, so it is what a write may have to wait for
 * @param saveStripes stripes after which a checkpoint is made stable
 * @param onEnd told once, when it has ended, one way or the other
 */
public record WalkOptions(long from, Pace pace, int batch, long saveStripes,
        Consumer<Walk> onEnd) {
    /** From the beginning, as fast as it goes. */
    public static final WalkOptions DEFAULT = new WalkOptions(0, Pace.FULL, 8, 16_384, _ -> {});

    /** Stripes of the largest batch. */
    public static final int MAX_BATCH = 256;

    public WalkOptions {
        if (from < 0 || batch < 1 || batch > MAX_BATCH || saveStripes < 1) {
            throw new IllegalArgumentException("a batch is of 1 to " + MAX_BATCH + " stripes");
        }
    }

    public WalkOptions withFrom(long other) {
        return new WalkOptions(other, pace, batch, saveStripes, onEnd);
    }

    public WalkOptions withPace(Pace other) {
        return new WalkOptions(from, other, batch, saveStripes, onEnd);
    }

    public WalkOptions withBatch(int other) {
        return new WalkOptions(from, pace, other, saveStripes, onEnd);
    }

    public WalkOptions withSaveStripes(long other) {
        return new WalkOptions(from, pace, batch, other, onEnd);
    }

    public WalkOptions withOnEnd(Consumer<Walk> other) {
        return new WalkOptions(from, pace, batch, saveStripes, other);
    }
}
