package lunar.scsi.primary;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * READ BUFFER(10) (SPC-5).
 *
 * @param modeSpecific MODE SPECIFIC
 * @param mode MODE
 * @param buffer BUFFER ID
 * @param offset BUFFER OFFSET in bytes
 * @param allocationLength maximum number of bytes to return
 */
public record ReadBuffer(int modeSpecific, int mode, int buffer, int offset, int allocationLength)
        implements StandardCdb {
    /** MODE: data of the buffer. */
    public static final int DATA = 0x02;
    /** MODE: the data that this initiator has written last, for a test of the way to and fro. */
    public static final int ECHO = 0x0a;
    /** MODE: size of the buffer, and where writes may start. */
    public static final int DESCRIPTOR = 0x03;
    /** MODE: size of the echo buffer. */
    public static final int ECHO_DESCRIPTOR = 0x0b;

    public static final int OPCODE = 0x3c;

    public ReadBuffer {
        CdbFields.check("modeSpecific", modeSpecific, 7);
        CdbFields.check("mode", mode, 0x1f);
        CdbFields.check("buffer", buffer, 0xff);
        CdbFields.check("offset", offset, 0xff_ffff);
        CdbFields.check("allocationLength", allocationLength, 0xff_ffff);
    }

    public static ReadBuffer decode(MemorySegment cdb) {
        return new ReadBuffer(BigEndian.int8(cdb, 1) >> 5, BigEndian.int8(cdb, 1) & 0x1f,
                BigEndian.int8(cdb, 2), BigEndian.int24(cdb, 3), BigEndian.int24(cdb, 6));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB10; }

    @Override
    public Direction direction() { return Direction.IN; }

    @Override
    public void encode(MemorySegment target) {
        CdbForm.CDB10.start(target, OPCODE, modeSpecific << 5 | mode);
        BigEndian.int8(target, 2, buffer);
        BigEndian.int24(target, 3, offset);
        BigEndian.int24(target, 6, allocationLength);
    }
}
