package lunar.osd.wire;

/**
 * Identifies an object: Partition_ID with User_Object_ID or Collection_Object_ID. Users' objects and collections
 * share the identifiers of their partition.
 *
 * @param partition Partition_ID, unsigned; 0 for the root and its "partition zero"
 * @param object User_Object_ID or Collection_Object_ID, unsigned; 0 for the partition itself
 */
public record ObjectId(long partition, long object) {
    /** The root object. */
    public static final ObjectId ROOT = new ObjectId(0, 0);
    /** The first identifier that a partition, collection or user object can have. */
    public static final long FIRST = 0x1_0000;
    /** Bytes of both identifiers. */
    public static final int LENGTH = 16;

    /** The identifier of a partition. */
    public static ObjectId ofPartition(long partition) {
        return new ObjectId(partition, 0);
    }

    /** Whether this is the root object. */
    public boolean isRoot() {
        return partition == 0 && object == 0;
    }

    /** Whether this is a partition. */
    public boolean isPartition() {
        return partition != 0 && object == 0;
    }

    /** Both identifiers as hexadecimal numbers. */
    @Override
    public String toString() {
        return Long.toHexString(partition) + "h/" + Long.toHexString(object) + 'h';
    }
}
