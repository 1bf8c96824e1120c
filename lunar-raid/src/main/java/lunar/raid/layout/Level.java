package lunar.raid.layout;

import java.util.Locale;

/** How a volume is laid out over its members. */
public enum Level {
    /** Concatenation of the members; sizes may differ. No member may be lost. */
    LINEAR("linear", 1),
    /** Stripes over all members (S-iRAID). No member may be lost. */
    RAID0("RAID 0", 1),
    /** A mirror: a copy on every member. All but one may be lost. */
    RAID1("RAID 1", 2),
    /** Stripes with rotating parity, left-symmetric (P-iRAID). One member may be lost. */
    RAID5("RAID 5", 3),
    /** Stripes with two rotating parities, left-symmetric. Two members may be lost. */
    RAID6("RAID 6", 4),
    /**
     * Striped mirrors, each chunk on two neighbours, also with an odd number of members. One of each pair may be lost.
     */
    RAID10("RAID 10", 2);

    private final String title;
    private final int minMembers;

    Level(String title, int minMembers) {
        this.title = title;
        this.minMembers = minMembers;
    }

    /** Returns the minimum number of members. */
    public int minMembers() { return minMembers; }

    /** Whether a member can be lost. */
    public boolean isRedundant() {
        return this != LINEAR && this != RAID0;
    }

    /** Whether the level has parity, so that a torn write can corrupt data that were not written. */
    public boolean hasParity() {
        return this == RAID5 || this == RAID6;
    }

    /**
     * Parses a level as the operator writes it: {@code 5}, {@code raid5}, {@code linear}.
     *
     * @throws IllegalArgumentException when there is none; the message is one line for the operator
     */
    public static Level parse(String text) {
        String name = text.toUpperCase(Locale.ROOT).replace("-", "").replace(" ", "");
        for (Level level : values()) {
            if (level.name().equals(name) || level.name().equals("RAID" + name)) {
                return level;
            }
        }
        throw new IllegalArgumentException(
                "no level '" + text + "'; there are linear, 0, 1, 5, 6 and 10");
    }

    @Override
    public String toString() { return title; }
}
