package lunar.scsi.wire;

import java.lang.foreign.MemorySegment;

/** Helper methods for fields of CDBs. */
public final class CdbFields {
    private static final int SERVICE_ACTION_MASK = 0x1f;

    private CdbFields() {}

    public static int serviceAction(MemorySegment cdb) {
        return BigEndian.int8(cdb, 1) & SERVICE_ACTION_MASK;
    }

    /** Refuses a number that has no place in its field: a mistake of our own. */
    public static void check(String name, long value, long max) {
        if (value < 0 || value > max) {
            throw new IllegalArgumentException(name + " must be 0 to " + max + ", not " + value);
        }
    }
}
