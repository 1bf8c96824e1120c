package lunar.raid.metadata.record;

/** The result of reading a member's superblock. */
public sealed interface SuperblockReading {
    /** A superblock. */
    record Found(Superblock superblock) implements SuperblockReading {}

    /** No superblock: the device is new, was wiped, or is in other use. */
    record Blank() implements SuperblockReading {}

    /**
     * Something that looks like one and cannot be used.
     *
     * @param why the reason for the operator
     */
    record Damaged(String why) implements SuperblockReading {}

    /**
     * A superblock that a newer program has written.
     *
     * @param what the version or the feature, for the operator
     */
    record Unknown(String what) implements SuperblockReading {}

    /**
     * The device could not be opened or read.
     *
     * @param why the reason for the operator
     */
    record Unreadable(String why) implements SuperblockReading {}
}
