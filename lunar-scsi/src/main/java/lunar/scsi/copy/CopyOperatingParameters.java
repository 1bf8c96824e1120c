package lunar.scsi.copy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.scsi.Bytes;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.vpd.ThirdPartyCopy;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * RECEIVE COPY RESULTS data of OPERATING PARAMETERS (SPC-4 section 6.22.4): what a copy manager takes. Fields of
 * inline, held and stream data, of which there are none, are 0.
 *
 * <pre>
 * 0 available data   4 SNLID 0   8 CSCD descriptors   10 segment descriptors   12 bytes of these
 * 16 bytes of a segment   34 copies in all   36 copies of a nexus   37 granularity of segments, a power of 2
 * 43 number of types   44 types
 * </pre>
 *
 * @param withoutIdentifier SNLID: copies need no list identifier
 * @param limits descriptors of one command
 * @param maxSegmentBytes longest segment
 * @param totalCopies copies at once in all
 * @param copies copies at once with list identifiers
 * @param segmentGranularity logarithm of the smallest length of a segment
 * @param descriptorTypes types of descriptors that are understood, in ascending order
 */
public record CopyOperatingParameters(boolean withoutIdentifier, CopyParameterList.Limits limits,
        long maxSegmentBytes, int totalCopies, int copies, int segmentGranularity,
        List<Integer> descriptorTypes) implements ParameterData {
    private static final int HEADER_LENGTH = 44;

    public CopyOperatingParameters {
        CdbFields.check("maxCscds", limits.maxCscds(), 0xffff);
        CdbFields.check("maxSegments", limits.maxSegments(), 0xffff);
        CdbFields.check("maxSegmentBytes", maxSegmentBytes, 0xffff_ffffL);
        CdbFields.check("totalCopies", totalCopies, 0xffff);
        CdbFields.check("copies", copies, 0xff);
        CdbFields.check("segmentGranularity", segmentGranularity, 0xff);
        descriptorTypes = List.copyOf(descriptorTypes);
    }

    public static CopyOperatingParameters decode(MemorySegment given)
            throws MalformedDataException {
        if (given.byteSize() < HEADER_LENGTH) {
            throw new MalformedDataException(
                    "copy operating parameters of " + given.byteSize() + " bytes");
        }
        var types = new ArrayList<Integer>();
        int end = (int) Math.min(given.byteSize(), HEADER_LENGTH + BigEndian.int8(given, 43));
        for (int at = HEADER_LENGTH; at < end; at++) {
            types.add(BigEndian.int8(given, at));
        }
        return new CopyOperatingParameters(BigEndian.bit(given, 4, 0),
                new CopyParameterList.Limits(BigEndian.int16(given, 8), BigEndian.int16(given, 10),
                        (int) Math.min(BigEndian.int32(given, 12), Integer.MAX_VALUE)),
                BigEndian.int32(given, 16), BigEndian.int16(given, 34), BigEndian.int8(given, 36),
                BigEndian.int8(given, 37), types);
    }

    /** General Copy Operations, a descriptor of VPD page 8Fh (SPC-5 section 7.7.19): copies at once, and segments. */
    public ThirdPartyCopy.Descriptor generalOperations() {
        var bytes = MemorySegment.ofArray(new byte[32]);
        BigEndian.int32(bytes, 0, totalCopies);
        BigEndian.int32(bytes, 4, copies);
        BigEndian.int32(bytes, 8, maxSegmentBytes);
        BigEndian.int8(bytes, 12, segmentGranularity);
        return new ThirdPartyCopy.Descriptor(0x8001, Bytes.of(bytes));
    }

    @Override
    public byte[] bytes() {
        byte[] array = new byte[HEADER_LENGTH + descriptorTypes.size()];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int32(bytes, 0, array.length - 4);
        BigEndian.int8(bytes, 4, BigEndian.bit(withoutIdentifier, 0));
        BigEndian.int16(bytes, 8, limits.maxCscds());
        BigEndian.int16(bytes, 10, limits.maxSegments());
        BigEndian.int32(bytes, 12, limits.maxDescriptorBytes());
        BigEndian.int32(bytes, 16, maxSegmentBytes);
        BigEndian.int16(bytes, 34, totalCopies);
        BigEndian.int8(bytes, 36, copies);
        BigEndian.int8(bytes, 37, segmentGranularity);
        BigEndian.int8(bytes, 43, descriptorTypes.size());
        for (int i = 0; i < descriptorTypes.size(); i++) {
            BigEndian.int8(bytes, HEADER_LENGTH + i, descriptorTypes.get(i));
        }
        return array;
    }
}
