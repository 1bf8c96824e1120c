package lunar.raid.meta;

/** What was found where a member's superblock would be. */
public sealed interface SuperblockReading {
    /** A superblock. */
    record Found(Superblock superblock) implements SuperblockReading {}

    /** Nothing that looks like one: the device is new, was wiped, or belongs to somebody else. */
    record Blank() implements SuperblockReading {}

    /**
     * Something that looks like one and cannot be used.
     *
     * @param why for a person
     */
    record Damaged(String why) implements SuperblockReading {}

    /**
     * One that a newer program has written.
     *
     * @param what for a person: the version or the feature
     */
    record Unknown(String what) implements SuperblockReading {}

    /**
     * The device could not be opened or read.
     *
     * @param why for a person
     */
    record Unreadable(String why) implements SuperblockReading {}
}
