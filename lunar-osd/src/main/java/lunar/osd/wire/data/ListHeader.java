package lunar.osd.wire.data;

import java.lang.foreign.MemorySegment;
import lunar.osd.field.Fields;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.scsi.MalformedDataException;
import lunar.scsi.wire.BigEndian;

/**
 * The header of the replies of LIST and LIST COLLECTION.
 *
 * <pre>
 *  0 additional length (8)   8 continuation identifier (8)   16 list identifier (4)   23 flags   24 entries
 *
 * flags of OSD-1: 1 LSTCHG   0 ROOT (LIST) or COLTN (LIST COLLECTION): the entries are partitions or collections
 * flags of OSD-2: 7..2 object descriptor format   1 LSTCHG
 * </pre>
 *
 * @param version layout of the flags
 * @param additionalLength bytes of the complete list behind this field, also if the reply is truncated; unsigned
 * @param continuationId initial identifier of the command that goes on with the list; 0 if the list is complete
 * @param listIdentifier of this list, unsigned 32 bits
 * @param entries type of the objects that are listed; not the root
 * @param withAttributes whether the entries have attributes; false in OSD-1
 * @param changed LSTCHG: whether the list has changed since the first command for it
 */
public record ListHeader(OsdVersion version, long additionalLength, long continuationId,
        long listIdentifier, ObjectType entries, boolean withAttributes, boolean changed) {
    /** Bytes of the header. */
    public static final int LENGTH = 24;
    /** Bytes of the header that additional length counts. */
    public static final int COUNTED = 16;

    private static final int CONTINUATION_AT = 8;
    private static final int LIST_IDENTIFIER_AT = 16;
    private static final int FLAGS_AT = 23;

    private static final int CONTAINERS = 1;
    private static final int CHANGED = 2;
    private static final int FORMAT_SHIFT = 2;
    private static final int WITHOUT_ATTRIBUTES = 1;
    private static final int WITH_ATTRIBUTES = 2;
    private static final int FORMAT_MASK = 0x3;

    public ListHeader {
        Fields.check("listIdentifier", listIdentifier, Fields.UINT32_MAX);
        if (entries == ObjectType.ROOT || (withAttributes && version == OsdVersion.OSD_1)) {
            throw new IllegalArgumentException(
                    "list of " + entries + " with attributes " + withAttributes);
        }
    }

    /** The header of a complete list of identifiers. */
    public static ListHeader complete(OsdVersion version, ObjectType entries, int count) {
        return new ListHeader(version, COUNTED + 8L * count, 0, 0, entries, false, false);
    }

    /**
     * Reads a header.
     *
     * @param action the command, which gives the flags of OSD-1 their meaning
     * @throws MalformedDataException for less than the header or an object descriptor format that is not defined
     */
    public static ListHeader decode(MemorySegment bytes, OsdVersion version, ServiceAction action)
            throws MalformedDataException {
        if (bytes.byteSize() < LENGTH) {
            throw new MalformedDataException(
                    "list of " + bytes.byteSize() + " bytes has no header");
        }
        int flags = BigEndian.int8(bytes, FLAGS_AT);
        int format = flags >> FORMAT_SHIFT;
        boolean attributes = version == OsdVersion.OSD_2
                && (format & FORMAT_MASK) == WITH_ATTRIBUTES;
        return new ListHeader(version, BigEndian.int64(bytes, 0),
                BigEndian.int64(bytes, CONTINUATION_AT), BigEndian.int32(bytes, LIST_IDENTIFIER_AT),
                version == OsdVersion.OSD_1 ? entriesOsd1(flags, action) : entriesOsd2(format),
                attributes, (flags & CHANGED) != 0);
    }

    private static ObjectType entriesOsd1(int flags, ServiceAction action) {
        if ((flags & CONTAINERS) == 0) {
            return ObjectType.USER_OBJECT;
        }
        return action == ServiceAction.LIST ? ObjectType.PARTITION : ObjectType.COLLECTION;
    }

    private static ObjectType entriesOsd2(int format) throws MalformedDataException {
        return switch (format) {
            case 0x01, 0x02 -> ObjectType.PARTITION;
            case 0x11, 0x12 -> ObjectType.COLLECTION;
            case 0x21, 0x22 -> ObjectType.USER_OBJECT;
            default -> throw new MalformedDataException(
                    String.format("object descriptor format %02Xh", format));
        };
    }

    private int format() {
        int base = switch (entries) {
            case PARTITION -> 0x00;
            case COLLECTION -> 0x10;
            default -> 0x20;
        };
        return base | (withAttributes ? WITH_ATTRIBUTES : WITHOUT_ATTRIBUTES);
    }

    /** Writes {@link #LENGTH} bytes. */
    public void encode(MemorySegment target) {
        target.asSlice(0, LENGTH).fill((byte) 0);
        BigEndian.int64(target, 0, additionalLength);
        BigEndian.int64(target, CONTINUATION_AT, continuationId);
        BigEndian.int32(target, LIST_IDENTIFIER_AT, listIdentifier);
        int kind = version == OsdVersion.OSD_2
                ? format() << FORMAT_SHIFT
                : entries == ObjectType.USER_OBJECT ? 0 : CONTAINERS;
        BigEndian.int8(target, FLAGS_AT, kind | (changed ? CHANGED : 0));
    }

    /** Where the entries end that a reply has: at its end, or where additional length says. */
    long end(long replyLength) {
        return Long.compareUnsigned(additionalLength, replyLength - 8) < 0
                ? additionalLength + 8
                : replyLength;
    }
}
