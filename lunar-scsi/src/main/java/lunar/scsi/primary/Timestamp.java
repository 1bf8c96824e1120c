package lunar.scsi.primary;

import java.lang.foreign.MemorySegment;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * Data-in of REPORT TIMESTAMP and data-out of SET TIMESTAMP (SPC-5).
 *
 * @param origin TIMESTAMP ORIGIN: 0, {@link #SET_BY_COMMAND} or {@link #SET_BY_OTHER_MEANS}; reserved in data-out
 * @param milliseconds since 1970, in 48 bits
 */
public record Timestamp(int origin, long milliseconds) implements ParameterData {
    /** TIMESTAMP ORIGIN: SET TIMESTAMP. */
    public static final int SET_BY_COMMAND = 2;
    /** TIMESTAMP ORIGIN: not SET TIMESTAMP, but for example the clock of the machine. */
    public static final int SET_BY_OTHER_MEANS = 3;

    private static final int LENGTH = 12;

    public Timestamp {
        CdbFields.check("origin", origin, 7);
        CdbFields.check("milliseconds", milliseconds, 0xffff_ffff_ffffL);
    }

    /**
     * Reads data-out of SET TIMESTAMP.
     *
     * @throws InvalidParameterListException 1Ah/00h for a list of another length
     */
    public static Timestamp decode(MemorySegment bytes) throws InvalidParameterListException {
        if (bytes.byteSize() != LENGTH) {
            throw InvalidParameterListException.length();
        }
        return new Timestamp(BigEndian.int8(bytes, 2) & 7,
                (long) BigEndian.int16(bytes, 4) << 32 | BigEndian.int32(bytes, 6));
    }

    @Override
    public byte[] bytes() {
        byte[] array = new byte[LENGTH];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int16(bytes, 0, LENGTH - 2);
        BigEndian.int8(bytes, 2, origin);
        BigEndian.int16(bytes, 4, (int) (milliseconds >>> 32));
        BigEndian.int32(bytes, 6, milliseconds & 0xffff_ffffL);
        return array;
    }
}
