package lunar.scsi.primary;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * REQUEST SENSE (SPC-5).
 *
 * @param descriptorFormat DESC: descriptor format is wanted
 * @param allocationLength maximum number of bytes to return
 */
public record RequestSense(boolean descriptorFormat, int allocationLength) implements StandardCdb {
    public static final int OPCODE = 0x03;

    public RequestSense {
        CdbFields.check("allocationLength", allocationLength, 0xff);
    }

    public static RequestSense decode(MemorySegment cdb) {
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
        CdbForm.CDB6.start(target, OPCODE, BigEndian.bit(descriptorFormat, 0));
        BigEndian.int8(target, 4, allocationLength);
    }
}
