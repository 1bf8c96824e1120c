package lunar.fs;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Reads little-endian numbers, which all formats here use. Callers must check the bounds. */
final class LittleEndian {
    private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class,
            ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class,
            ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class,
            ByteOrder.LITTLE_ENDIAN);

    private LittleEndian() {}

    static int u8(byte[] bytes, int at) { return bytes[at] & 0xff; }

    static int u16(byte[] bytes, int at) { return (short) SHORT.get(bytes, at) & 0xffff; }

    static int s32(byte[] bytes, int at) { return (int) INT.get(bytes, at); }

    static long u32(byte[] bytes, int at) { return s32(bytes, at) & 0xffff_ffffL; }

    /** Negative where the number is larger than a long. */
    static long s64(byte[] bytes, int at) {
        return (long) LONG.get(bytes, at);
    }
}
