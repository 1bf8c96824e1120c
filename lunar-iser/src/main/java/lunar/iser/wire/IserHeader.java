package lunar.iser.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Header of an iSER message that carries a PDU (RFC 7145 section 9.2), at the start of a message. Static, as it is
 * written and read where the message is.
 *
 * <pre>
 * byte  0       1          4             8                      16            20
 *      +-------+----------+-------------+----------------------+-------------+---------------------+
 *      | 1 WR  | reserved | Write STag  | Write Base Offset    | Read STag   | Read Base Offset    |
 *      +-------+----------+-------------+----------------------+-------------+---------------------+
 * </pre>
 *
 * <p>"Write" and "Read" are the directions of the SCSI command: the target reads by RDMA from the Write STag. The
 * zero-based addresses of the RFC are not used by any peer that is known, and base offsets are 64 bits wide.
 */
public final class IserHeader {
    /** Bytes before the PDU. */
    public static final int LENGTH = 28;

    /** Kinds of messages, in the upper half of the first byte. */
    public static final int CONTROL = 0x10;
    static final int HELLO = 0x20;
    static final int HELLO_REPLY = 0x30;
    private static final int KIND = 0xf0;

    /** WSV, RSV: the STag is there. */
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

    /** Writes the header of a PDU without STags. */
    public static void encode(MemorySegment message) {
        message.asSlice(0, LENGTH).fill((byte) 0);
        message.set(ValueLayout.JAVA_BYTE, 0, (byte) CONTROL);
    }

    /** Adds the memory with the data-out that the target fetches; after {@link #encode}. */
    public static void addWrite(MemorySegment message, int stag, long base) {
        addFlag(message, WRITE_VALID);
        message.set(INT, WRITE_STAG, stag);
        message.set(LONG, WRITE_BASE, base);
    }

    /** Adds the memory for data-in; after {@link #encode}. */
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

    /** Whether there is memory with data-out. */
    public static boolean hasWrite(MemorySegment message) {
        return (message.get(ValueLayout.JAVA_BYTE, 0) & WRITE_VALID) != 0;
    }

    /** Whether there is memory for data-in. */
    public static boolean hasRead(MemorySegment message) {
        return (message.get(ValueLayout.JAVA_BYTE, 0) & READ_VALID) != 0;
    }

    public static int writeStag(MemorySegment message) { return message.get(INT, WRITE_STAG); }

    public static long writeBase(MemorySegment message) { return message.get(LONG, WRITE_BASE); }

    public static int readStag(MemorySegment message) { return message.get(INT, READ_STAG); }

    public static long readBase(MemorySegment message) { return message.get(LONG, READ_BASE); }
}
