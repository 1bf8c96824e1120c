package lunar.scsi.copy;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.ParameterData;
import lunar.scsi.vpd.ThirdPartyCopy;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * Data-out of EXTENDED COPY (SPC-5 section 6.4, SPC-4 table 93 for LID1). There is never inline data.
 *
 * <pre>
 * LID1: 0 list identifier   1 STR 5, list ID usage 4-3, priority 2-0   2 CSCD list length   8 segment list length
 *      12 inline data length   16 descriptors
 * LID4: 0 01h   1 as above   2 0020h   15 G_SENSE 1, IMMED 0   16 FFh   20 list identifier   42 CSCD list length
 *      44 segment list length   46 inline data length   48 descriptors
 * </pre>
 *
 * @param longIdentifier whether it is in the form of LID4
 * @param listIdentifier name of the operation
 * @param listIdUsage LIST ID USAGE
 * @param priority PRIORITY
 * @param sequentialStriped STR
 * @param goodWithSense G_SENSE, only in LID4
 * @param immediate IMMED, only in LID4: the copy continues after GOOD
 */
public record CopyParameterList(boolean longIdentifier, long listIdentifier, int listIdUsage,
        int priority, boolean sequentialStriped, boolean goodWithSense, boolean immediate,
        List<CscdDescriptor> cscds, List<BlockCopySegment> segments) implements ParameterData {
    /** Limits of a copy manager, as reported in {@link CopyOperatingParameters}. */
    public record Limits(int maxCscds, int maxSegments, int maxDescriptorBytes) {
        /** Parameter Data, a descriptor of VPD page 8Fh (SPC-5 section 7.7.19). */
        public ThirdPartyCopy.Descriptor parameterData() {
            var bytes = MemorySegment.ofArray(new byte[28]);
            BigEndian.int16(bytes, 4, maxCscds);
            BigEndian.int16(bytes, 6, maxSegments);
            BigEndian.int32(bytes, 8, maxDescriptorBytes);
            return new ThirdPartyCopy.Descriptor(0x0004, Bytes.of(bytes));
        }
    }

    /** LIST ID USAGE: the operation has a name, and its data are held. */
    public static final int HOLD = 0;
    /** LIST ID USAGE: the operation has a name. */
    public static final int DISCARD = 2;
    /** LIST ID USAGE: the operation has no name. */
    public static final int NO_IDENTIFIER = 3;
    /** Bytes of the longer header. */
    public static final int MAX_HEADER_LENGTH = 48;

    private static final int SHORT_HEADER_LENGTH = 16;

    public CopyParameterList {
        CdbFields.check("listIdentifier", listIdentifier, longIdentifier ? 0xffff_ffffL : 0xff);
        CdbFields.check("listIdUsage", listIdUsage, 3);
        CdbFields.check("priority", priority, 7);
        cscds = List.copyOf(cscds);
        segments = List.copyOf(segments);
    }

    private static int headerLength(boolean longIdentifier) {
        return longIdentifier ? MAX_HEADER_LENGTH : SHORT_HEADER_LENGTH;
    }

    /** Where a segment descriptor starts in the list. */
    public int segmentAt(int index) {
        return headerLength(longIdentifier) + cscds.size() * CscdDescriptor.LENGTH
                + index * BlockCopySegment.LENGTH;
    }

    /**
     * Reads the list. Whether CSCDs and blocks exist is the caller's to check.
     *
     * @throws InvalidParameterListException 1Ah/00h for a list that is cut or longer than the limit, 26h/06h and
     *         26h/08h for too many descriptors, 26h/07h and 26h/09h for types that are not known, 26h/00h for the rest
     */
    public static CopyParameterList decode(MemorySegment bytes, boolean longIdentifier,
            Limits limits) throws InvalidParameterListException {
        int header = headerLength(longIdentifier);
        if (bytes.byteSize() < header) {
            throw InvalidParameterListException.length();
        }
        if (longIdentifier && BigEndian.int8(bytes, 0) != 1) {
            throw InvalidParameterListException.field(0);
        }
        if (longIdentifier && BigEndian.int8(bytes, 16) != 0xff) {
            throw InvalidParameterListException.field(16);
        }
        int cscdLengthAt = longIdentifier ? 42 : 2;
        int segmentLengthAt = longIdentifier ? 44 : 8;
        int inlineLengthAt = longIdentifier ? 46 : 12;
        int cscdBytes = BigEndian.int16(bytes, cscdLengthAt);
        long segmentBytes = longIdentifier
                ? BigEndian.int16(bytes, segmentLengthAt)
                : BigEndian.int32(bytes, segmentLengthAt);
        long inlineBytes = longIdentifier
                ? BigEndian.int16(bytes, inlineLengthAt)
                : BigEndian.int32(bytes, inlineLengthAt);
        if (cscdBytes + segmentBytes > limits.maxDescriptorBytes
                || header + cscdBytes + segmentBytes + inlineBytes > bytes.byteSize()) {
            throw InvalidParameterListException.length();
        }
        if (inlineBytes != 0) {
            throw InvalidParameterListException.field(inlineLengthAt);
        }
        if (cscdBytes % CscdDescriptor.LENGTH != 0) {
            throw InvalidParameterListException.field(cscdLengthAt);
        }
        int flags = BigEndian.int8(bytes, 1);
        int usage = flags >> 3 & 3;
        long identifier = longIdentifier ? BigEndian.int32(bytes, 20) : BigEndian.int8(bytes, 0);
        if (usage == 1) {
            throw InvalidParameterListException.field(1, 4);
        }
        if (usage == NO_IDENTIFIER && identifier != 0) {
            throw InvalidParameterListException.field(longIdentifier ? 20 : 0);
        }
        int segmentsAt = header + cscdBytes;
        return new CopyParameterList(longIdentifier, identifier, usage, flags & 7,
                (flags & 0x20) != 0, longIdentifier && BigEndian.bit(bytes, 15, 1),
                longIdentifier && BigEndian.bit(bytes, 15, 0),
                cscds(bytes, header, segmentsAt, limits),
                segments(bytes, segmentsAt, segmentsAt + (int) segmentBytes, limits));
    }

    private static List<CscdDescriptor> cscds(MemorySegment bytes, int from, int end,
            Limits limits) throws InvalidParameterListException {
        if ((end - from) / CscdDescriptor.LENGTH > limits.maxCscds) {
            throw InvalidParameterListException.of(AdditionalSense.TOO_MANY_TARGET_DESCRIPTORS,
                    from + limits.maxCscds * CscdDescriptor.LENGTH);
        }
        var cscds = new ArrayList<CscdDescriptor>();
        for (int at = from; at < end; at += CscdDescriptor.LENGTH) {
            cscds.add(CscdDescriptor.decode(bytes, at));
        }
        return cscds;
    }

    private static List<BlockCopySegment> segments(MemorySegment bytes, int from, int end,
            Limits limits) throws InvalidParameterListException {
        var segments = new ArrayList<BlockCopySegment>();
        for (int at = from; at < end; at += BlockCopySegment.LENGTH) {
            if (segments.size() == limits.maxSegments) {
                throw InvalidParameterListException
                        .of(AdditionalSense.TOO_MANY_SEGMENT_DESCRIPTORS, at);
            }
            segments.add(BlockCopySegment.decode(bytes, at, end));
        }
        return segments;
    }

    @Override
    public byte[] bytes() {
        byte[] header = new byte[headerLength(longIdentifier)];
        var bytes = MemorySegment.ofArray(header);
        int cscdBytes = cscds.size() * CscdDescriptor.LENGTH;
        int segmentBytes = segments.size() * BlockCopySegment.LENGTH;
        BigEndian.int8(bytes, 1,
                BigEndian.bit(sequentialStriped, 5) | listIdUsage << 3 | priority);
        if (longIdentifier) {
            BigEndian.int8(bytes, 0, 1);
            BigEndian.int16(bytes, 2, CscdDescriptor.LENGTH);
            BigEndian.int8(bytes, 15,
                    BigEndian.bit(goodWithSense, 1) | BigEndian.bit(immediate, 0));
            BigEndian.int8(bytes, 16, 0xff);
            BigEndian.int32(bytes, 20, listIdentifier);
            BigEndian.int16(bytes, 42, cscdBytes);
            BigEndian.int16(bytes, 44, segmentBytes);
        } else {
            BigEndian.int8(bytes, 0, (int) listIdentifier);
            BigEndian.int16(bytes, 2, cscdBytes);
            BigEndian.int32(bytes, 8, segmentBytes);
        }
        var all = new ByteArrayOutputStream();
        all.writeBytes(header);
        cscds.forEach(cscd -> all.writeBytes(cscd.bytes()));
        segments.forEach(segment -> all.writeBytes(segment.bytes()));
        return all.toByteArray();
    }
}
