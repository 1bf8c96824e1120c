package lunar.scsi.copy;

import java.lang.foreign.MemorySegment;
import lunar.scsi.Bytes;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;

/**
 * RECEIVE COPY RESULTS data of FAILED SEGMENT DETAILS (SPC-4 section 6.22.5).
 *
 * <pre>
 * 0 available data   56 status of the EXTENDED COPY   58 length of its sense data   60 these
 * </pre>
 *
 * @param status the status code with which the command ended
 * @param sense its sense data in fixed format
 */
public record FailedSegmentDetails(int status, Bytes sense) implements ParameterData {
    private static final int HEADER_LENGTH = 60;

    public static FailedSegmentDetails decode(MemorySegment bytes) throws MalformedDataException {
        if (bytes.byteSize() < HEADER_LENGTH
                || bytes.byteSize() - HEADER_LENGTH < BigEndian.int16(bytes, 58)) {
            throw new MalformedDataException(
                    "failed segment details of " + bytes.byteSize() + " bytes");
        }
        return new FailedSegmentDetails(BigEndian.int8(bytes, 56),
                Bytes.of(bytes.asSlice(HEADER_LENGTH, BigEndian.int16(bytes, 58))));
    }

    @Override
    public byte[] bytes() {
        byte[] array = new byte[HEADER_LENGTH + sense.length()];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int32(bytes, 0, array.length - 4);
        BigEndian.int8(bytes, 56, status);
        BigEndian.int16(bytes, 58, sense.length());
        MemorySegment.copy(sense.segment(), 0, bytes, HEADER_LENGTH, sense.length());
        return array;
    }
}
