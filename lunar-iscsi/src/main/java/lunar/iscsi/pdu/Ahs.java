package lunar.iscsi.pdu;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import lunar.iscsi.ProtocolException;

/**
 * An additional header segment (RFC 7143 section 11.2.2). Only a SCSI Command has any.
 *
 * <pre>
 * Byte/     0       |       1       |       2       |       3       |
 *    0| AHSLength                     | AHSType       | AHS-Specific  |
 *    4/ AHS-Specific, then zeroes to a multiple of four bytes         /
 * </pre>
 *
 * AHSLength counts the bytes from AHS-Specific on, padding excluded.
 */
public sealed interface Ahs {
    /** Bytes before AHS-Specific. */
    int HEADER = 3;

    /** AHSType of {@link ExtendedCdb}. */
    int EXTENDED_CDB = 1;

    /** AHSType of {@link BidirectionalReadLength}. */
    int BIDIRECTIONAL_READ_LENGTH = 2;

    /** Bytes on the wire, padding included. */
    int lengthBytes();

    /** Writes the segment and its padding to the first {@link #lengthBytes} bytes of {@code to}. */
    void encode(MemorySegment to);

    /**
     * The bytes of a CDB after its first 16 (section 11.2.2.3).
     *
     * @param rest a copy on the heap, never changed
     */
    record ExtendedCdb(MemorySegment rest) implements Ahs {
        /** Longest part: a CDB has at most 260 bytes (SPC-5 section 4.2.4), and the first 16 are in the header. */
        public static final int MAX_BYTES = 260 - 16;

        public ExtendedCdb {
            if (rest.byteSize() == 0 || rest.byteSize() > MAX_BYTES) {
                throw new IllegalArgumentException(rest.byteSize() + " bytes of extended CDB");
            }
            rest = MemorySegment.ofArray(rest.toArray(ValueLayout.JAVA_BYTE)).asReadOnly();
        }

        @Override
        public int lengthBytes() { return padded(HEADER + 1 + (int) rest.byteSize()); }

        @Override
        public void encode(MemorySegment to) {
            start(to, this, 1 + (int) rest.byteSize(), EXTENDED_CDB);
            MemorySegment.copy(rest, 0, to, HEADER + 1, rest.byteSize());
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof ExtendedCdb that && rest.mismatch(that.rest) == -1;
        }

        @Override
        public int hashCode() { return rest.asByteBuffer().hashCode(); }
    }

    /**
     * How much a command that writes and reads is to read (section 11.2.2.4).
     *
     * @param bytes Bidirectional Read Expected Data Transfer Length, unsigned
     */
    record BidirectionalReadLength(int bytes) implements Ahs {
        private static final int LENGTH = 8;
        private static final int AHS_LENGTH = 5;

        @Override
        public int lengthBytes() { return LENGTH; }

        @Override
        public void encode(MemorySegment to) {
            start(to, this, AHS_LENGTH, BIDIRECTIONAL_READ_LENGTH);
            to.set(Layout.INT, HEADER + 1, bytes);
        }
    }

    /**
     * All segments of a header, in order.
     *
     * @param all the segments with their padding: TotalAHSLength words
     * @throws ProtocolException for a length which does not fit, a reserved type (chapter 11: a protocol error), or
     *         two of a type
     */
    static List<Ahs> decode(MemorySegment all) throws ProtocolException {
        if (all.byteSize() == 0) {
            return List.of();
        }
        List<Ahs> found = new ArrayList<>(2);
        long at = 0;
        while (at < all.byteSize()) {
            long left = all.byteSize() - at;
            HeaderRule.require(left > HEADER, "truncated AHS", "11.2.2");
            int ahsLength = all.get(Layout.SHORT, at) & 0xffff;
            int type = all.get(ValueLayout.JAVA_BYTE, at + 2) & 0x3f;
            HeaderRule.require(ahsLength >= 1 && padded(HEADER + ahsLength) <= left,
                    "AHSLength " + ahsLength + " does not fit TotalAHSLength", "11.2.2.2");
            Ahs ahs = decode(type, all.asSlice(at + HEADER + 1, ahsLength - 1));
            for (Ahs other : found) {
                HeaderRule.require(other.getClass() != ahs.getClass(),
                        "two AHS of type " + type, "11.2.2.1");
            }
            found.add(ahs);
            at += padded(HEADER + ahsLength);
        }
        return found;
    }

    private static Ahs decode(int type, MemorySegment value) throws ProtocolException {
        long length = value.byteSize();
        return switch (type) {
            case EXTENDED_CDB -> {
                HeaderRule.require(length >= 1 && length <= ExtendedCdb.MAX_BYTES,
                        length + " bytes of extended CDB", "11.2.2.3");
                yield new ExtendedCdb(value);
            }
            case BIDIRECTIONAL_READ_LENGTH -> {
                HeaderRule.require(length == Integer.BYTES,
                        "a bidirectional read length of " + length + " bytes", "11.2.2.4");
                yield new BidirectionalReadLength(value.get(Layout.INT, 0));
            }
            default -> throw HeaderRule.reserved("AHSType", type, "11.2.2.1");
        };
    }

    private static void start(MemorySegment to, Ahs ahs, int ahsLength, int type) {
        to.asSlice(0, ahs.lengthBytes()).fill((byte) 0);
        to.set(Layout.SHORT, 0, (short) ahsLength);
        to.set(ValueLayout.JAVA_BYTE, 2, (byte) type);
    }

    private static int padded(int bytes) { return (bytes + 3) & ~3; }

    /** Numbers on the wire. */
    final class Layout {
        static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED
                .withOrder(ByteOrder.BIG_ENDIAN);
        static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED
                .withOrder(ByteOrder.BIG_ENDIAN);

        private Layout() {}
    }
}
