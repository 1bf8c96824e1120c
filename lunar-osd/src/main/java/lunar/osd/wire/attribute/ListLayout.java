package lunar.osd.wire.attribute;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import lunar.osd.wire.OsdVersion;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.MalformedDataException;
import lunar.scsi.wire.BigEndian;

/**
 * The header of attribute lists.
 *
 * <pre>
 * OSD-1: 0 list type, low nibble   2 list length (2)
 * OSD-2: 0 list type, low nibble   4 list length (4)
 * </pre>
 *
 * <p>The list length does not count the header. Initiators leave it zero; for lists in data-out, the length in the CDB
 * counts. In a retrieved list it has the bytes that were returned, also when the list is truncated.
 */
final class ListLayout {
    /** Attributes to get. */
    static final int GET = 0x1;
    /** Attributes with values. */
    static final int VALUES = 0x9;
    /** Attributes of several objects; OSD-2. */
    static final int OBJECTS = 0xe;
    /** Attributes of objects that were created together; OSD-1. */
    static final int CREATED = 0xf;

    private static final int TYPE_MASK = 0xf;
    private static final int TYPE_BIT = 3;
    private static final int MAX_LENGTH_OSD_1 = 0xffff;

    private ListLayout() {}

    static int headerLength(OsdVersion version) { return version == OsdVersion.OSD_1 ? 4 : 8; }

    /** Checks the header of a list in data-out. */
    static void checkSent(MemorySegment list, int type, OsdVersion version)
            throws InvalidParameterListException {
        if (list.byteSize() < headerLength(version)) {
            throw InvalidParameterListException.length();
        }
        if ((BigEndian.int8(list, 0) & TYPE_MASK) != type) {
            throw InvalidParameterListException.field(0, TYPE_BIT);
        }
    }

    /** Checks the header of a list in data-in; returns where its entries end. */
    static long checkReturned(MemorySegment list, int type, OsdVersion version)
            throws MalformedDataException {
        int header = headerLength(version);
        if (list.byteSize() < header) {
            throw new MalformedDataException(
                    "attributes list of " + list.byteSize() + " bytes has no header");
        }
        if ((BigEndian.int8(list, 0) & TYPE_MASK) != type) {
            throw new MalformedDataException(
                    "attributes list has type " + (BigEndian.int8(list, 0) & TYPE_MASK) + ", not "
                            + type);
        }
        long length = version == OsdVersion.OSD_1
                ? BigEndian.int16(list, 2)
                : BigEndian.int32(list, 4);
        return Math.min(list.byteSize(), header + length);
    }

    /** A list with room for entries of this length; its header has no list length. */
    static byte[] start(int type, int entriesLength, OsdVersion version) {
        byte[] list = new byte[Math.addExact(headerLength(version), entriesLength)];
        list[0] = (byte) type;
        return list;
    }

    /** Writes as much of a list as fits, with the bytes behind its header as the list length. */
    static int truncate(byte[] list, MemorySegment target, long allocationLength,
            OsdVersion version) {
        int header = headerLength(version);
        long most = Math.min(allocationLength, target.byteSize());
        if (version == OsdVersion.OSD_1) {
            most = Math.min(most, header + MAX_LENGTH_OSD_1);
        }
        int length = (int) Math.min(list.length, most);
        var whole = MemorySegment.ofArray(list);
        if (version == OsdVersion.OSD_1) {
            BigEndian.int16(whole, 2, Math.max(0, length - header));
        } else {
            BigEndian.int32(whole, 4, Math.max(0, length - header));
        }
        MemorySegment.copy(list, 0, target, ValueLayout.JAVA_BYTE, 0, length);
        return length;
    }
}
