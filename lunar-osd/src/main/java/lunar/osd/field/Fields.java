package lunar.osd.field;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import lunar.scsi.Bytes;

/** Reads and writes numbers, most significant byte first, and byte strings, at any alignment. */
public final class Fields {
    /** Largest unsigned 32-bit number. */
    public static final long UINT32_MAX = 0xffff_ffffL;
    /** Largest unsigned 48-bit number, such as a time in milliseconds since 1970. */
    public static final long UINT48_MAX = 0xffff_ffff_ffffL;

    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);

    private Fields() {}

    public static int int8(MemorySegment from, long at) {
        return from.get(ValueLayout.JAVA_BYTE, at) & 0xff;
    }

    public static void int8(MemorySegment to, long at, int value) {
        to.set(ValueLayout.JAVA_BYTE, at, (byte) value);
    }

    public static int int16(MemorySegment from, long at) { return from.get(SHORT, at) & 0xffff; }

    public static void int16(MemorySegment to, long at, int value) {
        to.set(SHORT, at, (short) value);
    }

    /** All 32 bits, for numbers that are compared only, such as pages and encoded offsets. */
    public static int bits32(MemorySegment from, long at) {
        return from.get(INT, at);
    }

    /** Unsigned 32 bits. */
    public static long int32(MemorySegment from, long at) {
        return from.get(INT, at) & UINT32_MAX;
    }

    public static void int32(MemorySegment to, long at, long value) {
        to.set(INT, at, (int) value);
    }

    public static long int48(MemorySegment from, long at) {
        return (long) int16(from, at) << 32 | int32(from, at + 2);
    }

    public static void int48(MemorySegment to, long at, long value) {
        int16(to, at, (int) (value >>> 32));
        int32(to, at + 2, value);
    }

    public static long int64(MemorySegment from, long at) { return from.get(LONG, at); }

    public static void int64(MemorySegment to, long at, long value) { to.set(LONG, at, value); }

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
