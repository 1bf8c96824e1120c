package lunar.initiator.scsi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import lunar.scsi.MalformedDataException;

/** Decodes the lengths in the headers of parameter data. */
final class Lengths {
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);

    private Lengths() {}

    /** Returns a length in two bytes, which does not count the bytes before {@code from}. */
    static Calls.Length in16(int at, int from) {
        return bytes -> from + int16(bytes, at);
    }

    /** Returns a length in four bytes, which does not count the bytes before {@code from}. */
    static Calls.Length in32(int at, int from) {
        return bytes -> {
            require(bytes, at + 4);
            return from + (bytes.get(INT, at) & 0xffff_ffffL);
        };
    }

    /** Returns an unsigned number in two bytes. */
    static int int16(MemorySegment bytes, int at) throws MalformedDataException {
        require(bytes, at + 2);
        return bytes.get(SHORT, at) & 0xffff;
    }

    /** Returns a number in eight bytes. */
    static long int64(MemorySegment bytes, int at) throws MalformedDataException {
        require(bytes, at + 8);
        return bytes.get(LONG, at);
    }

    /** Returns a bit of a byte. */
    static boolean bit(MemorySegment bytes, int at, int bit) throws MalformedDataException {
        require(bytes, at + 1);
        return (bytes.get(ValueLayout.JAVA_BYTE, at) >> bit & 1) != 0;
    }

    private static void require(MemorySegment bytes, int length) throws MalformedDataException {
        if (bytes.byteSize() < length) {
            throw new MalformedDataException("only " + bytes.byteSize() + " bytes");
        }
    }
}
