package lunar.raid.run;

/** What goes over all stripes beside reads and writes. */
public enum WalkKind {
    /** A member gets what belongs in its slot. */
    REBUILD("rebuild"),
    /** Blocks are moved into the layout that a volume has with more members. */
    RESHAPE("reshape"),
    /** Parity and copies are made true after a crash, or for the first time. */
    RESYNC("resync"),
    /** All is read and compared. */
    SCRUB("scrub");

    private final String title;

    WalkKind(String title) { this.title = title; }

    @Override
    public String toString() { return title; }
}
