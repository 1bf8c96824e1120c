package lunar.scsi.log;

import java.lang.foreign.MemorySegment;
import lunar.scsi.Bytes;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * A log parameter (SPC-5).
 *
 * @param code PARAMETER CODE
 * @param control the byte of DU, TSD, FORMAT AND LINKING
 * @param value PARAMETER VALUE
 */
public record LogParameter(int code, int control, Bytes value) {
    static final int HEADER = 4;
    /** FORMAT AND LINKING 10b, a counter that stops at its end; TSD 0 is not claimed, since nothing is saved. */
    private static final int BOUNDED_COUNTER = 0x22;
    /** FORMAT AND LINKING 11b, a list. */
    private static final int LIST = 0x23;

    public LogParameter {
        CdbFields.check("code", code, 0xffff);
        CdbFields.check("control", control, 0xff);
        CdbFields.check("parameter length", value.length(), 0xff);
    }

    /** A number that counts up, in eight bytes. */
    public static LogParameter counter(int code, long value) {
        byte[] bytes = new byte[Long.BYTES];
        BigEndian.int64(MemorySegment.ofArray(bytes), 0, value);
        return new LogParameter(code, BOUNDED_COUNTER, Bytes.of(bytes));
    }

    /** Bytes that are no counter. */
    public static LogParameter list(int code, byte... value) {
        return new LogParameter(code, LIST, Bytes.of(value));
    }

    /** The value of a counter of up to eight bytes. */
    public long number() {
        long number = 0;
        for (int i = 0; i < Math.min(value.length(), Long.BYTES); i++) {
            number = number << 8 | value.at(i);
        }
        return number;
    }

    byte[] bytes() {
        byte[] array = new byte[HEADER + value.length()];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int16(bytes, 0, code);
        BigEndian.int8(bytes, 2, control);
        BigEndian.int8(bytes, 3, value.length());
        MemorySegment.copy(value.segment(), 0, bytes, HEADER, value.length());
        return array;
    }
}
