package lunar.raid.metadata;

/** Whether a volume may start without members that had all data when it was used last; the operator decides. */
public enum DegradedStart {
    /** All members that the newest record calls ACTIVE must be there. */
    REFUSED("no"),
    /**
     * The volume may start degraded, as long as what is there is known to be the newest: the rest of the members cannot
     * have been used without it.
     */
    ALLOWED("yes"),
    /** The members that are there may be old: the others could have been used without them, and are lost for good. */
    FORCED("force");

    private final String word;

    DegradedStart(String word) { this.word = word; }

    /**
     * Parses the word in a URI or a config file.
     *
     * @throws IllegalArgumentException with one line for the operator
     */
    public static DegradedStart parse(String text) {
        for (DegradedStart one : values()) {
            if (one.word.equals(text)) {
                return one;
            }
        }
        throw new IllegalArgumentException("degraded=" + text + " is not one of no, yes, force");
    }

    boolean includes(DegradedStart other) { return compareTo(other) >= 0; }

    @Override
    public String toString() { return word; }
}
