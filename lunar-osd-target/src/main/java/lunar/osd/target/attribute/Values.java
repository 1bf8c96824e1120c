package lunar.osd.target.attribute;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import lunar.scsi.Bytes;

/** Values of attributes: unsigned numbers, most significant byte first, and texts. */
public final class Values {
    private Values() {}

    /** Returns a number in this many bytes, at most eight. */
    public static Bytes number(long value, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (value >>> (Byte.SIZE * (length - 1 - i)));
        }
        return Bytes.of(bytes);
    }

    /** Returns a number of eight bytes. */
    public static Bytes int64(long value) {
        return number(value, Long.BYTES);
    }

    /** Returns a time of six bytes. */
    public static Bytes time(long timeMs) {
        return number(timeMs, 6);
    }

    /** Reads a number of at most eight bytes. */
    public static long number(Bytes value) {
        long number = 0;
        for (int i = 0; i < value.length(); i++) {
            number = number << Byte.SIZE | value.at(i);
        }
        return number;
    }

    /** Returns a text in ASCII. */
    static Bytes text(String text) {
        return Bytes.of(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** Returns a text in ASCII, padded to a length. */
    static Bytes text(String text, int length, char padding) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) padding);
        MemorySegment.copy(text(text).segment(), 0, MemorySegment.ofArray(bytes), 0,
                Math.min(text.length(), length));
        return Bytes.of(bytes);
    }

    /** Returns a value padded with zeros to a length. */
    static Bytes padded(Bytes value, int length) {
        return Bytes.of(Arrays.copyOf(value.toArray(), length));
    }
}
