package lunar.raid.metadata;

/** The operator's consent to starting a volume without members that had all data when it was used last. */
public enum Consent {
    /** None: all members that the newest record calls ACTIVE must be there. */
    NONE,
    /**
     * The volume may start degraded, as long as what is there is known to be the newest: the rest of the members cannot
     * have been used without it.
     */
    DEGRADED,
    /** The members that are there may be old: the others could have been used without them, and are lost for good. */
    FORCED;

    boolean includes(Consent other) { return compareTo(other) >= 0; }
}
