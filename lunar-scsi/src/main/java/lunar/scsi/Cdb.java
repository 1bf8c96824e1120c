package lunar.scsi;

import java.lang.foreign.MemorySegment;

/**
 * A command descriptor block (SPC-5). The initiator encodes it, the target decodes it. {@link StandardCdb}s are those
 * of primary commands and of block devices; other device types bring their own.
 *
 * <p>Constructors refuse values that have no place in the bytes with IllegalArgumentException: that is a mistake of our
 * own, which a decoder cannot make. Logical block addresses are unsigned 64-bit numbers; a negative one lies beyond any
 * device. Reserved bits are written as zero and ignored when read; so is the CONTROL byte, except that NACA is refused.
 */
public interface Cdb {
    /** Which way data travel. */
    enum Direction {
        NONE,
        /** Data-in, from the device. */
        IN,
        /** Data-out, to the device. */
        OUT,
        /** Data-out, and data-in in answer to it. */
        BOTH
    }

    /** Bytes of the longest standard CDB, and of the CDB field of an iSCSI command (RFC 7143 section 11.3.5). */
    int MAX_LENGTH = 16;

    /** OPERATION CODE, the first byte. */
    int opcode();

    /** Which way data travel. */
    Direction direction();

    /** Bytes of the CDB. */
    int length();

    /** Writes {@link #length()} bytes at the start of a segment; bytes after these are left alone. */
    void encode(MemorySegment target);

    /** The encoded CDB. */
    default byte[] bytes() {
        byte[] array = new byte[length()];
        encode(MemorySegment.ofArray(array));
        return array;
    }
}
