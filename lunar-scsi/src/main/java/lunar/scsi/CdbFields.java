package lunar.scsi;

import java.lang.foreign.MemorySegment;

/** What the fields of CDBs have in common. */
final class CdbFields {
    private static final int SERVICE_ACTION_MASK = 0x1f;

    private CdbFields() {}

    static int serviceAction(MemorySegment cdb) {
        return BigEndian.int8(cdb, 1) & SERVICE_ACTION_MASK;
    }

    /** Zeroes a CDB and writes its operation code and byte 1. */
    static void start(MemorySegment target, CdbForm form, int opcode, int byte1) {
        target.asSlice(0, form.length()).fill((byte) 0);
        BigEndian.int8(target, 0, opcode);
        BigEndian.int8(target, 1, byte1);
    }

    /** Refuses a number that has no place in its field: a mistake of our own. */
    static void check(String name, long value, long max) {
        if (value < 0 || value > max) {
            throw new IllegalArgumentException(name + " must be 0 to " + max + ", not " + value);
        }
    }
}
