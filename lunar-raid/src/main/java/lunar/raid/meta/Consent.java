package lunar.raid.meta;

/** What a person agrees to when a volume is put together without members that had all data when it was used last. */
public enum Consent {
    /** Nothing: all members must be there that the newest record calls ACTIVE. */
    NONE,
    /**
     * The volume may start degraded, as long as what is there is known to be the newest: nobody can have used the rest
     * of the members without it.
     */
    DEGRADED,
    /** What is there may be old: members that are not there could have been used without it, and are lost for good. */
    FORCED;

    boolean includes(Consent other) { return compareTo(other) >= 0; }
}
