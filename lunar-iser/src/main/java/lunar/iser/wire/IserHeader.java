package lunar.iser.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Encodes and decodes the header of an iSER message that carries a PDU (RFC 7145 section 9.2), in place at the start
 * of the message.
 *
 * <pre>
 * byte  0       1          4             8                      16            20
 *      +-------+----------+-------------+----------------------+-------------+---------------------+
 *      | 1 WR  | reserved | Write STag  | Write Base Offset    | Read STag   | Read Base Offset    |
 *      +-------+----------+-------------+----------------------+-------------+---------------------+
 * </pre>
 *
 * <p>"Write" and "Read" are the directions of the SCSI command: the target issues RDMA Reads from the Write STag. W
 * (WSV) and R (RSV) say whether the Write STag and the Read STag are valid. Base offsets are 64 bits wide, and in
 * practice virtual addresses: no known peer uses zero-based addresses.
 */
public final class IserHeader {
    /** Length of the header in bytes; the PDU follows. */
    public static final int LENGTH = 28;

    /** Message types (opcodes), in the upper four bits of the first byte. This one carries a PDU. */
    public static final int CONTROL = 0x10;
    static final int HELLO = 0x20;
    static final int HELLO_REPLY = 0x30;
    private static final int KIND = 0xf0;

    /** WSV and RSV: the Write STag and the Read STag are valid. */
    private static final int WRITE_VALID = 0x08;
    private static final int READ_VALID = 0x04;

    private static final int WRITE_STAG = 4;
    private static final int WRITE_BASE = 8;
    private static final int READ_STAG = 16;
    private static final int READ_BASE = 20;

    static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);

    private IserHeader() {}

    /** Encodes a header without STags. */
    public static void encode(MemorySegment message) {
        message.asSlice(0, LENGTH).fill((byte) 0);
        message.set(ValueLayout.JAVA_BYTE, 0, (byte) CONTROL);
    }

    /** Adds the Write STag: memory with the data-out that the target fetches. After {@link #encode}. */
    public static void addWrite(MemorySegment message, int stag, long base) {
        addFlag(message, WRITE_VALID);
        message.set(INT, WRITE_STAG, stag);
        message.set(LONG, WRITE_BASE, base);
    }

    /** Adds the Read STag: memory for the data-in. After {@link #encode}. */
    public static void addRead(MemorySegment message, int stag, long base) {
        addFlag(message, READ_VALID);
        message.set(INT, READ_STAG, stag);
        message.set(LONG, READ_BASE, base);
    }

    private static void addFlag(MemorySegment message, int flag) {
        message.set(ValueLayout.JAVA_BYTE, 0,
                (byte) (message.get(ValueLayout.JAVA_BYTE, 0) | flag));
    }

    static int kind(MemorySegment message) { return message.get(ValueLayout.JAVA_BYTE, 0) & KIND; }

    /** Whether the Write STag is valid. */
    public static boolean hasWrite(MemorySegment message) {
        return (message.get(ValueLayout.JAVA_BYTE, 0) & WRITE_VALID) != 0;
    }

    /** Whether the Read STag is valid. */
    public static boolean hasRead(MemorySegment message) {
        return (message.get(ValueLayout.JAVA_BYTE, 0) & READ_VALID) != 0;
    }

    public static int writeStag(MemorySegment message) { return message.get(INT, WRITE_STAG); }

    public static long writeBase(MemorySegment message) { return message.get(LONG, WRITE_BASE); }

    public static int readStag(MemorySegment message) { return message.get(INT, READ_STAG); }

    public static long readBase(MemorySegment message) { return message.get(LONG, READ_BASE); }
}
