package lunar.osd.wire.command;

import lunar.osd.field.Fields;
import lunar.osd.wire.OsdVersion;

/**
 * Offsets in CDBs.
 *
 * <pre>
 * OSD-1   OSD-2
 *   0       0   operation code 7Fh
 *   1       1   CONTROL
 *   7       7   additional CDB length
 *   8       8   service action (2)
 *  10      10   options
 *  11      11   get/set CDBFMT, bits of the command
 *  12      12   timestamps control
 *  16      16   Partition_ID
 *  24      24   User_Object_ID, Collection_Object_ID or the requested one
 *  32      48   list identifier (4)
 *  36      32   length, allocation length, formatted capacity (8)
 *  44      40   starting byte address, initial object identifier (8)
 *   -      48   CDB continuation length (4), in commands without a list identifier
 *  52      52   get and set attributes parameters
 *  80      80   capability
 * 160     184   security parameters
 * </pre>
 */
final class CdbLayout {
    static final int OPCODE = 0x7f;

    static final int CONTROL_AT = 1;
    static final int NACA_BIT = 2;
    static final int ADDITIONAL_LENGTH_AT = 7;
    static final int SERVICE_ACTION_AT = 8;
    static final int OPTIONS_AT = 10;
    static final int FORMAT_AT = 11;
    static final int FORMAT_SHIFT = 4;
    static final int TIMESTAMPS_AT = 12;
    static final int PARTITION_AT = 16;
    static final int OBJECT_AT = 24;
    /** First byte of the fields that differ between commands. */
    static final int SPECIFIC_AT = 32;
    static final int CONTINUATION_AT = 48;

    /** Bytes that additional CDB length does not count. */
    static final int UNCOUNTED = 8;
    /** Bytes of the header of a continuation segment. */
    private static final int MIN_CONTINUATION = 40;

    private CdbLayout() {}

    static int listIdentifierAt(OsdVersion version) {
        return version == OsdVersion.OSD_1 ? SPECIFIC_AT : 48;
    }

    static int lengthAt(OsdVersion version) {
        return version == OsdVersion.OSD_1 ? 36 : SPECIFIC_AT;
    }

    static int startAt(OsdVersion version) { return version == OsdVersion.OSD_1 ? 44 : 40; }

    /** Whether a continuation segment can have this length. */
    static boolean isContinuationLength(long length) {
        return length == Fields.align8(length) && length >= MIN_CONTINUATION
                && length <= Fields.UINT32_MAX;
    }
}
