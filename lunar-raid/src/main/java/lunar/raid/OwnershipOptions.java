package lunar.raid;

import java.time.Duration;

/**
 * Options of the ownership of a volume.
 *
 * @param beat time between two confirmations of the owner record on a member
 * @param lease how long after its last confirmation a volume still answers; shorter than {@code silence}
 * @param silence how long a record must stay unchanged before its owner counts as dead
 * @param settle how long a record must stay on members without COMPARE AND WRITE before it counts; a record that took
 *        more than half of that to write may have replaced that of another process. Zero if no other process starts at
 *        the same time
 * @param takesOver whether the volume is taken from an owner that may be alive, without waiting for its silence
 * @param reserves whether members that support persistent reservations are reserved
 */
public record OwnershipOptions(Duration beat, Duration lease, Duration silence, Duration settle,
        boolean takesOver, boolean reserves) {
    /** Defaults for production. */
    public static final OwnershipOptions DEFAULT = new OwnershipOptions(Duration.ofSeconds(2),
            Duration.ofSeconds(6), Duration.ofSeconds(12), Duration.ofSeconds(1), false, true);

    public OwnershipOptions {
        if (beat.isZero() || beat.isNegative() || lease.compareTo(beat) <= 0
                || silence.compareTo(lease) <= 0 || settle.isNegative()) {
            throw new IllegalArgumentException("a lease of " + lease + " with a beat each " + beat
                    + " and a silence of " + silence);
        }
    }

    public OwnershipOptions withTakeOver(boolean is) {
        return new OwnershipOptions(beat, lease, silence, settle, is, reserves);
    }

    public OwnershipOptions withReservations(boolean are) {
        return new OwnershipOptions(beat, lease, silence, settle, takesOver, are);
    }
}
