package lunar.raid.metadata.record;

/** The protection of a volume's copies and parity against a stop in the middle of a write. */
public enum Consistency {
    /** None: for levels without redundancy, or if all is compared after a crash. */
    NONE(0),
    /**
     * Regions are marked before they are written, and compared after a crash. Where a crash meets the loss of a member
     * of a level with parity, stripes that were being written may become wrong (the write hole).
     */
    BITMAP(1),
    /** Like {@link #BITMAP}, and data go to a journal before they are written in place: no write hole. */
    JOURNAL(2);

    private final int code;

    Consistency(int code) { this.code = code; }

    /** The number on the medium. */
    public int code() { return code; }

    public static Consistency of(int code) {
        for (Consistency one : values()) {
            if (one.code == code) {
                return one;
            }
        }
        throw new IllegalArgumentException("no consistency policy has the number " + code);
    }
}
