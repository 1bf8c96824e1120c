package lunar.scsi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HexFormat;

/** An immutable byte sequence with value equality, for fields of records that are not decoded. */
public final class Bytes {
    /** No bytes. */
    public static final Bytes EMPTY = new Bytes(new byte[0]);

    private final byte[] content;

    private Bytes(byte[] content) { this.content = content; }

    /** A copy of an array. */
    public static Bytes of(byte... content) {
        return content.length == 0 ? EMPTY : new Bytes(content.clone());
    }

    /** A copy of a segment. */
    public static Bytes of(MemorySegment segment) {
        return segment.byteSize() == 0 ? EMPTY : new Bytes(segment.toArray(ValueLayout.JAVA_BYTE));
    }

    /** Bytes written as hexadecimal digits; blanks between them are skipped. */
    public static Bytes ofHex(String hex) {
        return new Bytes(HexFormat.of().parseHex(hex.replace(" ", "")));
    }

    /** Number of bytes. */
    public int length() { return content.length; }

    /** Unsigned byte at an index. */
    public int at(int index) { return content[index] & 0xff; }

    /** A copy with one byte replaced. */
    public Bytes with(int index, int value) {
        byte[] copy = content.clone();
        copy[index] = (byte) value;
        return new Bytes(copy);
    }

    /** The bytes as a copy. */
    public byte[] toArray() { return content.clone(); }

    /** The bytes to read; writing to them fails. */
    public MemorySegment segment() {
        return MemorySegment.ofArray(content).asReadOnly();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Bytes that && Arrays.equals(content, that.content);
    }

    @Override
    public int hashCode() { return Arrays.hashCode(content); }

    @Override
    public String toString() { return HexFormat.of().formatHex(content); }
}
