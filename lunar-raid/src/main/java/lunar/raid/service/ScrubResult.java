package lunar.raid.service;

/**
 * The result of a scrub.
 *
 * @param stripes that were read
 * @param mismatches stripes with redundancy that did not match their data
 * @param repairs ranges that could not be read, or had another checksum, and were repaired
 * @param skipped stripes that could not be compared, since a part of them is missing or being resynced
 * @param repairing whether mismatches were repaired
 * @param why why it did not complete; empty if it did
 */
public record ScrubResult(long stripes, long mismatches, long repairs, long skipped,
        boolean repairing, String why) {
    /** Whether everything was compared, and consistent. */
    public boolean isClean() {
        return mismatches == 0 && skipped == 0 && why.isEmpty();
    }

    @Override
    public String toString() {
        return stripes + " stripes, " + mismatches + " wrong"
                + (mismatches > 0 && repairing ? " and put right" : "") + ", " + repairs
                + " unreadable or damaged ranges repaired"
                + (skipped == 0 ? "" : ", " + skipped + " not compared")
                + (why.isEmpty() ? "" : "; not through: " + why);
    }
}
