package lunar.iscsi.pdu;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Flyweight over the 48 bytes of a basic header segment (RFC 7143 section 11.2.1). Reused: {@link #wrap} moves it over
 * a receive or send buffer, and nothing is allocated. Accessors exist for fields common to all PDUs; other fields are
 * read by {@link #int32} and its siblings at the offsets that the PDU records name.
 *
 * <pre>
 * Byte/     0       |       1       |       2       |       3       |
 *    0| |I| Opcode  |F|  Opcode-specific fields                     |
 *    4|TotalAHSLength | DataSegmentLength                           |
 *    8| LUN or Opcode-specific fields                               |
 *   12|                                                             |
 *   16| Initiator Task Tag                                          |
 *   20/ Opcode-specific fields                                      /
 *   48
 * </pre>
 */
public final class Bhs {
    /** Bytes of a basic header segment. */
    public static final int LENGTH = 48;

    /** The value of a task tag that stands for none (RFC 7143 section 11.2.1.8). */
    public static final int NO_TAG = 0xffff_ffff;

    static final int FLAGS = 1;
    static final int TOTAL_AHS_LENGTH = 4;
    static final int DATA_SEGMENT_LENGTH = 4;
    static final int LUN = 8;
    static final int ITT = 16;
    static final int TTT = 20;

    private static final int IMMEDIATE = 0x40;
    private static final int OPCODE_MASK = 0x3f;
    private static final int FINAL = 0x80;

    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);

    private MemorySegment base = MemorySegment.NULL;
    private long offset;

    /** A flyweight over nothing yet. */
    public Bhs() {}

    /** Moves over the first {@link #LENGTH} bytes of a segment. */
    public Bhs wrap(MemorySegment segment) {
        return wrap(segment, 0);
    }

    /** Moves over {@link #LENGTH} bytes of a segment, from an offset. */
    public Bhs wrap(MemorySegment segment, long offset) {
        if (segment.byteSize() - offset < LENGTH) {
            throw new IndexOutOfBoundsException(
                    "a header in " + (segment.byteSize() - offset) + " bytes");
        }
        base = segment;
        this.offset = offset;
        return this;
    }

    /** The bytes this stands over. */
    public MemorySegment bytes() {
        return base.asSlice(offset, LENGTH);
    }

    /** Copies bytes from an offset on to the front of a segment. */
    public void copy(int at, MemorySegment to, int length) {
        MemorySegment.copy(base, offset + at, to, 0, length);
    }

    /** Zeroes the header, then sets opcode, immediate bit and the byte of flags. */
    public Bhs start(int opcode, boolean immediate, int flags) {
        for (int at = 0; at < LENGTH; at += Long.BYTES) {
            int64(at, 0);
        }
        int8(0, opcode | (immediate ? IMMEDIATE : 0));
        int8(FLAGS, flags);
        return this;
    }

    /** The opcode without the immediate bit (section 11.2.1.2). */
    public int opcode() {
        return int8(0) & OPCODE_MASK;
    }

    /** Whether the I bit asks for immediate delivery (section 11.2.1.1). */
    public boolean immediate() {
        return (int8(0) & IMMEDIATE) != 0;
    }

    /** Returns byte 1: the final bit and opcode-specific flags. */
    public int flags() {
        return int8(FLAGS);
    }

    /** Whether the F bit is set (section 11.2.1.3). */
    public boolean isFinal() {
        return (int8(FLAGS) & FINAL) != 0;
    }

    /** Bytes of all additional header segments, padding included; on the wire in 4-byte words (section 11.2.1.5). */
    public int totalAhsLengthBytes() {
        return int8(TOTAL_AHS_LENGTH) * 4;
    }

    /** Bytes of the data segment, padding excluded (section 11.2.1.6). */
    public int dataSegmentLength() {
        return int32(DATA_SEGMENT_LENGTH) & 0xff_ffff;
    }

    /** Sets both lengths of the header. */
    public Bhs lengths(int ahsBytes, int dataBytes) {
        assert ahsBytes >= 0 && ahsBytes <= 255 * 4 && ahsBytes % 4 == 0 : ahsBytes;
        assert dataBytes >= 0 && dataBytes < 1 << 24 : dataBytes;
        return int32(TOTAL_AHS_LENGTH, ((ahsBytes / 4) << 24) | dataBytes);
    }

    /** The eight bytes of the LUN field as a number (section 11.2.1.7). */
    public long lun() {
        return int64(LUN);
    }

    /** Initiator Task Tag (section 11.2.1.8). */
    public int itt() { return int32(ITT); }

    /** Target Transfer Tag, where the PDU has one. */
    public int ttt() { return int32(TTT); }

    /** Unsigned byte at an offset. */
    public int int8(int at) {
        return base.get(ValueLayout.JAVA_BYTE, offset + at) & 0xff;
    }

    public Bhs int8(int at, int value) {
        base.set(ValueLayout.JAVA_BYTE, offset + at, (byte) value);
        return this;
    }

    /** Unsigned 16 bits at an offset. */
    public int int16(int at) {
        return base.get(SHORT, offset + at) & 0xffff;
    }

    public Bhs int16(int at, int value) {
        base.set(SHORT, offset + at, (short) value);
        return this;
    }

    /** 32 bits at an offset. */
    public int int32(int at) { return base.get(INT, offset + at); }

    public Bhs int32(int at, int value) {
        base.set(INT, offset + at, value);
        return this;
    }

    /** 64 bits at an offset. */
    public long int64(int at) { return base.get(LONG, offset + at); }

    public Bhs int64(int at, long value) {
        base.set(LONG, offset + at, value);
        return this;
    }
}
