package lunar.scsi;

import java.lang.foreign.MemorySegment;

/**
 * A command descriptor block (SPC-5). The initiator encodes it, the target decodes it. {@link StandardCdb}s are primary
 * commands and those of block devices; other device types define their own.
 *
 * <p>Constructors reject values that do not fit their fields with IllegalArgumentException, which a decoder cannot
 * cause. Logical block addresses are unsigned 64-bit numbers; a negative one is beyond any device. Reserved bits are
 * written as zero and ignored when read; so is the CONTROL byte, except that NACA is rejected.
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
