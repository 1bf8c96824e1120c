package lunar.iscsi.framing;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * CRC32C digest (RFC 7143 section 13.1) over a segment of a PDU, computed incrementally; reusable.
 *
 * <p>The CRC is sent with its least significant byte first, so {@link #wire} returns it with the bytes reversed:
 * written big-endian like all other fields, this yields the bytes of the RFC's appendix A.4.
 */
public final class Crc32c {
    private static final byte[] ZEROES = new byte[4];
    private static final int PIECE = 4096;

    private final CRC32C crc = new CRC32C();
    private byte @Nullable [] piece;

    /** A digest over nothing yet. */
    public Crc32c() {}

    /** The digest of one segment, padded with zeroes to a multiple of four bytes as on the wire. */
    public static int of(MemorySegment bytes) {
        return new Crc32c().update(bytes).pad(bytes.byteSize()).wire();
    }

    /** Starts again. */
    public Crc32c reset() {
        crc.reset();
        return this;
    }

    /** Adds bytes. Costs native memory a new buffer, and the heap a copy. */
    public Crc32c update(MemorySegment bytes) {
        if (bytes.isNative()) {
            crc.update(bytes.asByteBuffer());
            return this;
        }
        byte[] to = piece;
        if (to == null) {
            to = new byte[PIECE];
            piece = to;
        }
        int length;
        for (long at = 0; at < bytes.byteSize(); at += length) {
            length = (int) Math.min(PIECE, bytes.byteSize() - at);
            MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, at, to, 0, length);
            crc.update(to, 0, length);
        }
        return this;
    }

    /** Adds a buffer's remaining bytes; its position moves to its limit. */
    public Crc32c update(ByteBuffer bytes) {
        crc.update(bytes);
        return this;
    }

    /** Adds the zero bytes which fill a segment of so many bytes up to a multiple of four (section 11.1). */
    public Crc32c pad(long segmentBytes) {
        crc.update(ZEROES, 0, (int) (-segmentBytes & 3));
        return this;
    }

    /** The digest of all so far, as the big-endian number which the wire shows. */
    public int wire() {
        return Integer.reverseBytes((int) crc.getValue());
    }
}
