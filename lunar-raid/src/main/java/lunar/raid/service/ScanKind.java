package lunar.raid.service;

import java.util.OptionalInt;

/** The kinds of {@link lunar.raid.BackgroundScan}. */
public enum ScanKind {
    /** Gives a member what belongs in its slot. */
    REBUILD("rebuild"),
    /** Moves blocks into the layout with more members. */
    RESHAPE("reshape"),
    /** Makes parity and copies consistent after a crash, or for the first time. */
    RESYNC("resync"),
    /** Reads and compares everything. */
    SCRUB("scrub");

    private final String title;

    ScanKind(String title) { this.title = title; }

    @Override
    public String toString() { return title; }

    /** Returns the name of a scan for the operator, with the slot if it has one. */
    static String title(ScanKind kind, OptionalInt slot) {
        return slot.isEmpty() ? kind.toString() : kind + " of slot " + slot.getAsInt();
    }
}
