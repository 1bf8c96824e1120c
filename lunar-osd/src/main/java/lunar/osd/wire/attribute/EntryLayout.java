package lunar.osd.wire.attribute;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.osd.field.Fields;
import lunar.osd.wire.OsdVersion;
import lunar.scsi.wire.BigEndian;

/**
 * Entries of lists of attributes with values.
 *
 * <pre>
 * OSD-1: 0 page   4 number   8 length (2)    10 value, next entry
 * OSD-2: 0 page   4 number   8 reserved (6)  14 length (2)   16 value, padding to a multiple of 8, next entry
 * </pre>
 *
 * <p>In data-in, length FFFFh says that an attribute is not set: always in OSD-1, in early devices of OSD-2 too. In
 * OSD-2 it has length 0.
 */
final class EntryLayout {
    static final int UNSET = 0xffff;

    private EntryLayout() {}

    /** Bytes up to the value. */
    static int headerLength(OsdVersion version) {
        return version == OsdVersion.OSD_1 ? 10 : 16;
    }

    /** Where the length is. */
    static int lengthAt(OsdVersion version) {
        return headerLength(version) - 2;
    }

    /** Bytes of an entry with its padding. */
    static int length(int valueLength, OsdVersion version) {
        int length = headerLength(version) + valueLength;
        return version == OsdVersion.OSD_1 ? length : (int) Fields.align8(length);
    }

    static int length(List<Attribute> attributes, OsdVersion version) {
        int length = 0;
        for (Attribute attribute : attributes) {
            length = Math.addExact(length, length(attribute.value().length(), version));
        }
        return length;
    }

    static AttributeId id(MemorySegment list, long at) {
        return new AttributeId(Fields.bits32(list, at), Fields.bits32(list, at + 4));
    }

    static void id(MemorySegment list, long at, AttributeId id) {
        BigEndian.int32(list, at, id.page());
        BigEndian.int32(list, at + 4, id.number());
    }

    /** Writes an entry of data-out; returns the offset behind it. */
    static long set(MemorySegment list, long at, Attribute attribute, OsdVersion version) {
        int length = attribute.value().length();
        id(list, at, attribute.id());
        BigEndian.int16(list, at + lengthAt(version), length);
        Fields.bytes(list, at + headerLength(version), attribute.value());
        return at + length(length, version);
    }

    /** Writes an entry of data-in; returns the offset behind it. */
    static long returned(MemorySegment list, long at, Attribute attribute, OsdVersion version) {
        long next = set(list, at, attribute, version);
        if (!attribute.isSet() && version == OsdVersion.OSD_1) {
            BigEndian.int16(list, at + lengthAt(version), UNSET);
        }
        return next;
    }

    /** Reads entries of data-in; leaves out the last one if it is truncated. */
    static List<Attribute> returned(MemorySegment list, long from, long end, OsdVersion version) {
        var attributes = new ArrayList<Attribute>();
        int header = headerLength(version);
        long at = from;
        while (at + header <= end) {
            int length = BigEndian.int16(list, at + lengthAt(version));
            int present = length == UNSET ? 0 : length;
            if (at + header + present > end) {
                break;
            }
            attributes.add(new Attribute(id(list, at), Fields.bytes(list, at + header, present)));
            at += length(present, version);
        }
        return attributes;
    }
}
