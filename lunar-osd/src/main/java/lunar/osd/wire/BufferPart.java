package lunar.osd.wire;

import java.lang.foreign.MemorySegment;
import lunar.osd.field.Fields;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.wire.BigEndian;

/**
 * A part of data-out or data-in, named by an encoded offset and a length of a CDB. A part without bytes has offset 0;
 * its offset on the wire is written as "not used" and ignored when read.
 *
 * @param offset first byte; in a CDB it must be one that {@link EncodedOffset} represents
 * @param length number of bytes, unsigned 32 bits
 */
public record BufferPart(long offset, long length) {
    /** No bytes. */
    public static final BufferPart NONE = new BufferPart(0, 0);

    public BufferPart {
        Fields.check("offset", offset, length == 0 ? 0 : Long.MAX_VALUE >> 1);
        Fields.check("length", length, Fields.UINT32_MAX);
    }

    /** Whether there are no bytes. */
    public boolean isEmpty() { return length == 0; }

    /** The first byte behind the part. */
    public long end() { return offset + length; }

    /**
     * The part of data-out.
     *
     * @throws InvalidParameterListException 1Ah/00h if it is not all there
     */
    public MemorySegment in(MemorySegment dataOut) throws InvalidParameterListException {
        if (end() > dataOut.byteSize()) {
            throw InvalidParameterListException.length();
        }
        return dataOut.asSlice(offset, length);
    }

    /** Returns the part of data that have it; {@link MemorySegment#NULL} if there are no bytes. */
    public MemorySegment slice(MemorySegment data) {
        return isEmpty() ? MemorySegment.NULL : data.asSlice(offset, length);
    }

    /** Reads the length and the offset of a CDB. */
    public static BufferPart decode(MemorySegment cdb, int lengthAt, int offsetAt,
            OsdVersion version) throws InvalidCdbException {
        long length = BigEndian.int32(cdb, lengthAt);
        if (length == 0) {
            return NONE;
        }
        int encoded = Fields.bits32(cdb, offsetAt);
        return new BufferPart(EncodedOffset.decode(encoded, version)
                .orElseThrow(() -> InvalidCdbException.field(offsetAt)), length);
    }

    /**
     * Writes the length and the offset into a CDB.
     *
     * @throws IllegalArgumentException for an offset that cannot be encoded
     */
    public void encode(MemorySegment cdb, int lengthAt, int offsetAt, OsdVersion version) {
        BigEndian.int32(cdb, lengthAt, length);
        BigEndian.int32(cdb, offsetAt,
                isEmpty() ? EncodedOffset.UNUSED : EncodedOffset.encode(offset, version));
    }
}
