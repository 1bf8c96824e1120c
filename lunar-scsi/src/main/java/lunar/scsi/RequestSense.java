package lunar.scsi;

import java.lang.foreign.MemorySegment;

/**
 * REQUEST SENSE (SPC-5).
 *
 * @param descriptorFormat DESC: descriptor format is wanted
 * @param allocationLength most bytes to return
 */
public record RequestSense(boolean descriptorFormat, int allocationLength) implements StandardCdb {
    static final int OPCODE = 0x03;

    public RequestSense {
        CdbFields.check("allocationLength", allocationLength, 0xff);
    }

    static RequestSense decode(MemorySegment cdb) {
        return new RequestSense(BigEndian.bit(cdb, 1, 0), BigEndian.int8(cdb, 4));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB6; }

    @Override
    public Direction direction() { return Direction.IN; }

    @Override
    public void encode(MemorySegment target) {
        CdbFields.start(target, CdbForm.CDB6, OPCODE, BigEndian.bit(descriptorFormat, 0));
        BigEndian.int8(target, 4, allocationLength);
    }
}
