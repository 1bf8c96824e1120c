package lunar.scsi.copy;

import java.lang.foreign.MemorySegment;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;

/**
 * RECEIVE COPY RESULTS data of COPY STATUS for LID1 (SPC-4 section 6.22.2).
 *
 * <pre>
 * 0 available data   4 HDD 7, status 6-0   5 segments processed   7 transfer count units   8 transfer count
 * </pre>
 *
 * @param state COPY MANAGER STATUS
 * @param segments segments processed
 * @param transferred bytes copied; told in units large enough that it fits
 */
public record ShortCopyStatus(State state, int segments, long transferred)
        implements
        ParameterData {
    /** COPY MANAGER STATUS. */
    public enum State {
        IN_PROGRESS, SUCCEEDED, FAILED;

        private static final State[] ALL = values();
    }

    private static final int LENGTH = 12;
    private static final int UNIT_SHIFT = 10;
    private static final long UINT32_MAX = 0xffff_ffffL;

    public static ShortCopyStatus decode(MemorySegment bytes) throws MalformedDataException {
        if (bytes.byteSize() < LENGTH) {
            throw new MalformedDataException("copy status of " + bytes.byteSize() + " bytes");
        }
        int state = BigEndian.int8(bytes, 4) & 0x7f;
        int units = BigEndian.int8(bytes, 7);
        if (state >= State.ALL.length || units > 3) {
            throw new MalformedDataException("copy status " + state + " in units of " + units);
        }
        return new ShortCopyStatus(State.ALL[state], BigEndian.int16(bytes, 5),
                BigEndian.int32(bytes, 8) << (UNIT_SHIFT * units));
    }

    @Override
    @SuppressWarnings("EnumOrdinal") // the standard numbers them from 0
    public byte[] bytes() {
        byte[] array = new byte[LENGTH];
        var bytes = MemorySegment.ofArray(array);
        int units = 0; // bytes, KiB, MiB, GiB
        long count = transferred;
        while (count > UINT32_MAX) {
            count >>= UNIT_SHIFT;
            units++;
        }
        BigEndian.int32(bytes, 0, LENGTH - 4);
        BigEndian.int8(bytes, 4, state.ordinal());
        BigEndian.int16(bytes, 5, segments);
        BigEndian.int8(bytes, 7, units);
        BigEndian.int32(bytes, 8, count);
        return array;
    }
}
