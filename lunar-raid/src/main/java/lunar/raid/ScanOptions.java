package lunar.raid;

import java.util.function.Consumer;

/**
 * Options of a scan over stripes.
 *
 * @param from the stripe to begin with, where the scan has no checkpoint of its own
 * @param pace how fast
 * @param batch stripes at once; they are locked together, so a write may have to wait for all of them
 * @param saveStripes stripes after which a checkpoint is made stable
 * @param onEnd called once, when the scan has ended, successfully or not
 */
public record ScanOptions(long from, Pace pace, int batch, long saveStripes,
        Consumer<BackgroundScan> onEnd) {
    /** From the first stripe, at full pace. */
    public static final ScanOptions DEFAULT = new ScanOptions(0, Pace.FULL, 8, 16_384, _ -> {});

    /** Stripes of the largest batch. */
    public static final int MAX_BATCH = 256;

    public ScanOptions {
        if (from < 0 || batch < 1 || batch > MAX_BATCH || saveStripes < 1) {
            throw new IllegalArgumentException("a batch is of 1 to " + MAX_BATCH + " stripes");
        }
    }

    public ScanOptions withFrom(long other) {
        return new ScanOptions(other, pace, batch, saveStripes, onEnd);
    }

    public ScanOptions withPace(Pace other) {
        return new ScanOptions(from, other, batch, saveStripes, onEnd);
    }

    public ScanOptions withBatch(int other) {
        return new ScanOptions(from, pace, other, saveStripes, onEnd);
    }

    public ScanOptions withSaveStripes(long other) {
        return new ScanOptions(from, pace, batch, other, onEnd);
    }

    public ScanOptions withOnEnd(Consumer<BackgroundScan> other) {
        return new ScanOptions(from, pace, batch, saveStripes, other);
    }
}
