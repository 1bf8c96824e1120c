package lunar.raid;

/**
 * Reads every unit of every stripe. Unreadable blocks are repaired on the way; redundancy that does not match the data
 * is counted, and repaired if wanted: with two parities, or three copies, the wrong unit can often be identified, else
 * the data, or the first copy, are taken as right. Stripes that have lost units, or are known to be stale, are skipped.
 */
public interface Scrub extends BackgroundScan {
    /** Returns the number of stripes so far with redundancy that did not match. */
    long mismatches();

    /** Returns the number of stripes so far that could not be compared. */
    long skipped();
}
