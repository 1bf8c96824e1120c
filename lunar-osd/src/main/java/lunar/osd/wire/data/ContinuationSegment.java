package lunar.osd.wire.data;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.osd.field.Fields;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.scsi.Bytes;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;

/**
 * A CDB continuation segment, the first bytes of data-out; the data of the command follow directly. OSD-2 only.
 *
 * <pre>
 * 0 format 01h   2 service action (2)   8 integrity check value (32)   40 descriptors:
 *    0 type (2)   3 pad length, low three bits   4 length (4)   8 content, padding
 * </pre>
 *
 * @param action the command; as in the CDB
 * @param integrityCheckValue 32 bytes
 * @param descriptors in their order; a descriptor of type 0 ends the segment when read
 */
public record ContinuationSegment(ServiceAction action, Bytes integrityCheckValue,
        List<ContinuationDescriptor> descriptors) implements ParameterData {
    /** Bytes before the descriptors. */
    public static final int HEADER_LENGTH = 40;

    private static final int FORMAT = 1;
    private static final int ACTION_AT = 2;
    private static final int INTEGRITY_AT = 8;
    private static final int INTEGRITY_LENGTH = OsdVersion.OSD_2.integrityLength();
    private static final int DESCRIPTOR_HEADER = 8;
    private static final int PAD_LENGTH_AT = 3;
    private static final int PAD_LENGTH_BIT = 2;
    private static final int PAD_MASK = 7;
    private static final int LENGTH_AT = 4;
    private static final int END = 0x0000;

    public ContinuationSegment {
        descriptors = List.copyOf(descriptors);
        Fields.checkLength("integrityCheckValue", integrityCheckValue, INTEGRITY_LENGTH);
        if (!action.isIn(OsdVersion.OSD_2)) {
            throw new IllegalArgumentException(action + " is not in OSD-2");
        }
    }

    /** A segment without an integrity check value. */
    public static ContinuationSegment of(ServiceAction action,
            ContinuationDescriptor... descriptors) {
        return new ContinuationSegment(action, Bytes.of(new byte[INTEGRITY_LENGTH]),
                List.of(descriptors));
    }

    /**
     * Reads a segment.
     *
     * @param segment as many bytes as the CDB says
     * @param action the command
     * @throws InvalidParameterListException 1Ah/00h for a segment or a descriptor that is cut; 26h/00h for another
     *         format or service action, or a descriptor that does not end at a multiple of eight bytes. Field pointers
     *         count from the start of the segment, in a query list from the start of the list
     */
    public static ContinuationSegment decode(MemorySegment segment, ServiceAction action)
            throws InvalidParameterListException {
        if (segment.byteSize() < HEADER_LENGTH) {
            throw InvalidParameterListException.length();
        }
        if (BigEndian.int8(segment, 0) != FORMAT) {
            throw InvalidParameterListException.field(0);
        }
        if (BigEndian.int16(segment, ACTION_AT) != action.code(OsdVersion.OSD_2)) {
            throw InvalidParameterListException.field(ACTION_AT);
        }
        return new ContinuationSegment(action,
                Fields.bytes(segment, INTEGRITY_AT, INTEGRITY_LENGTH), descriptors(segment));
    }

    private static List<ContinuationDescriptor> descriptors(MemorySegment segment)
            throws InvalidParameterListException {
        var descriptors = new ArrayList<ContinuationDescriptor>();
        long at = HEADER_LENGTH;
        while (at < segment.byteSize()) {
            if (at + DESCRIPTOR_HEADER > segment.byteSize()) {
                throw InvalidParameterListException.length();
            }
            int type = BigEndian.int16(segment, at);
            if (type == END) {
                break;
            }
            long length = BigEndian.int32(segment, at + LENGTH_AT);
            long padded = length + (BigEndian.int8(segment, at + PAD_LENGTH_AT) & PAD_MASK);
            if (padded != Fields.align8(padded)) {
                throw InvalidParameterListException
                        .field((int) Math.min(at + PAD_LENGTH_AT, 0xffff), PAD_LENGTH_BIT);
            }
            if (at + DESCRIPTOR_HEADER + padded > segment.byteSize()) {
                throw InvalidParameterListException.length();
            }
            descriptors.add(ContinuationDescriptor.decode(type,
                    segment.asSlice(at + DESCRIPTOR_HEADER, length)));
            at += DESCRIPTOR_HEADER + padded;
        }
        return descriptors;
    }

    /** The segment, whose length, a multiple of eight bytes, goes into the CDB. */
    @Override
    public byte[] bytes() {
        byte[] header = new byte[HEADER_LENGTH];
        var bytes = MemorySegment.ofArray(header);
        BigEndian.int8(bytes, 0, FORMAT);
        BigEndian.int16(bytes, ACTION_AT, action.code(OsdVersion.OSD_2));
        Fields.bytes(bytes, INTEGRITY_AT, integrityCheckValue);
        var out = new ByteArrayOutputStream();
        out.writeBytes(header);
        for (ContinuationDescriptor descriptor : descriptors) {
            byte[] content = descriptor.content();
            int pad = (int) (Fields.align8(content.length) - content.length);
            byte[] start = new byte[DESCRIPTOR_HEADER];
            var fields = MemorySegment.ofArray(start);
            BigEndian.int16(fields, 0, descriptor.type());
            BigEndian.int8(fields, PAD_LENGTH_AT, pad);
            BigEndian.int32(fields, LENGTH_AT, content.length);
            out.writeBytes(start);
            out.writeBytes(content);
            out.writeBytes(new byte[pad]);
        }
        return out.toByteArray();
    }

    /** Leaves out the integrity check value. */
    @Override
    public String toString() {
        return "ContinuationSegment[action=" + action + ", descriptors=" + descriptors + ']';
    }
}
