package lunar.raid.run;

/**
 * What a scrub has found.
 *
 * @param stripes looked at
 * @param mismatches stripes whose redundancy did not match their data
 * @param repairs ranges that could not be read, or had another checksum, and were repaired
 * @param skipped stripes that could not be compared, since a part of them is missing or being made true
 * @param repairing whether mismatches were put right
 * @param why why it was not through; empty where it was
 */
public record ScrubResult(long stripes, long mismatches, long repairs, long skipped,
        boolean repairing, String why) {
    /** Whether all was compared, and was right. */
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
