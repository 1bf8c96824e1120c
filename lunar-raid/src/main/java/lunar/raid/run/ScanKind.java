package lunar.raid.run;

/** The kinds of {@link lunar.raid.BackgroundScan}. */
public enum ScanKind {
    /** A member gets what belongs in its slot. */
    REBUILD("rebuild"),
    /** Blocks are moved into the layout that a volume has with more members. */
    RESHAPE("reshape"),
    /** Parity and copies are made true after a crash, or for the first time. */
    RESYNC("resync"),
    /** All is read and compared. */
    SCRUB("scrub");

    private final String title;

    ScanKind(String title) { this.title = title; }

    @Override
    public String toString() { return title; }
}
