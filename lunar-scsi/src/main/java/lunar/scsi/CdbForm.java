package lunar.scsi;

import java.lang.foreign.MemorySegment;
import lunar.scsi.wire.BigEndian;

/** Length of a CDB, determined by the top three bits of its operation code (SAM-5 section 5.2). */
public enum CdbForm {
    CDB6(6), CDB10(10), CDB12(12), CDB16(16);

    private final int length;

    CdbForm(int length) { this.length = length; }

    /** Bytes of the CDB. */
    public int length() { return length; }

    /** Zeroes a CDB of this form and writes its operation code and byte 1. */
    public void start(MemorySegment target, int opcode, int byte1) {
        target.asSlice(0, length).fill((byte) 0);
        BigEndian.int8(target, 0, opcode);
        BigEndian.int8(target, 1, byte1);
    }
}
