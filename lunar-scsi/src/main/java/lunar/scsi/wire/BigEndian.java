package lunar.scsi.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Numbers in SCSI order, most significant byte first (SPC-5), at any alignment. */
public final class BigEndian {
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);

    private BigEndian() {}

    public static int int8(MemorySegment bytes, long at) {
        return bytes.get(ValueLayout.JAVA_BYTE, at) & 0xff;
    }

    public static void int8(MemorySegment bytes, long at, int value) {
        bytes.set(ValueLayout.JAVA_BYTE, at, (byte) value);
    }

    public static int int16(MemorySegment bytes, long at) { return bytes.get(SHORT, at) & 0xffff; }

    public static void int16(MemorySegment bytes, long at, int value) {
        bytes.set(SHORT, at, (short) value);
    }

    public static int int24(MemorySegment bytes, long at) {
        return int8(bytes, at) << 16 | int16(bytes, at + 1);
    }

    public static void int24(MemorySegment bytes, long at, int value) {
        int8(bytes, at, value >>> 16);
        int16(bytes, at + 1, value);
    }

    /** Unsigned 32 bits. */
    public static long int32(MemorySegment bytes, long at) {
        return bytes.get(INT, at) & 0xffff_ffffL;
    }

    public static void int32(MemorySegment bytes, long at, long value) {
        bytes.set(INT, at, (int) value);
    }

    public static long int64(MemorySegment bytes, long at) { return bytes.get(LONG, at); }

    public static void int64(MemorySegment bytes, long at, long value) {
        bytes.set(LONG, at, value);
    }

    /** Whether a bit (7 is the most significant) of a byte is set. */
    public static boolean bit(MemorySegment bytes, long at, int bit) {
        return (int8(bytes, at) >> bit & 1) != 0;
    }

    /** {@code 1 << bit} where the flag is set, else 0. */
    public static int bit(boolean flag, int bit) {
        return flag ? 1 << bit : 0;
    }

    /** The first bytes of a segment that may be cut: what is missing reads as zero. */
    public static MemorySegment padded(MemorySegment given, int length) {
        if (given.byteSize() >= length) {
            return given.asSlice(0, length);
        }
        var whole = MemorySegment.ofArray(new byte[length]);
        MemorySegment.copy(given, 0, whole, 0, given.byteSize());
        return whole;
    }
}
