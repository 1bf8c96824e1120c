package lunar.osd.field;

import java.lang.foreign.MemorySegment;
import lunar.scsi.Bytes;
import lunar.scsi.wire.BigEndian;

/** Fields of OSD that {@link BigEndian} does not have: 48-bit numbers, byte strings, and limits. */
public final class Fields {
    /** Largest unsigned 32-bit number. */
    public static final long UINT32_MAX = 0xffff_ffffL;
    /** Largest unsigned 48-bit number, such as a time in milliseconds since 1970. */
    public static final long UINT48_MAX = 0xffff_ffff_ffffL;

    private Fields() {}

    /** All 32 bits, for numbers that are compared only, such as pages and encoded offsets. */
    public static int bits32(MemorySegment from, long at) {
        return (int) BigEndian.int32(from, at);
    }

    public static long int48(MemorySegment from, long at) {
        return (long) BigEndian.int16(from, at) << 32 | BigEndian.int32(from, at + 2);
    }

    public static void int48(MemorySegment to, long at, long value) {
        BigEndian.int16(to, at, (int) (value >>> 32));
        BigEndian.int32(to, at + 2, value);
    }

    /** A copy of bytes, all of which are there. */
    public static Bytes bytes(MemorySegment from, long at, long length) {
        return Bytes.of(from.asSlice(at, length));
    }

    public static void bytes(MemorySegment to, long at, Bytes value) {
        MemorySegment.copy(value.segment(), 0, to, at, value.length());
    }

    /** Rounds up to a multiple of eight bytes. */
    public static long align8(long length) {
        return length + 7 & -8L;
    }

    /** Refuses a number that has no place in its field: a mistake of our own. */
    public static void check(String name, long value, long max) {
        if (value < 0 || value > max) {
            throw new IllegalArgumentException(name + " must be 0 to " + max + ", not " + value);
        }
    }

    /** Refuses a byte string that does not fill its field: a mistake of our own. */
    public static void checkLength(String name, Bytes value, int length) {
        if (value.length() != length) {
            throw new IllegalArgumentException(
                    name + " must have " + length + " bytes, not " + value.length());
        }
    }
}
