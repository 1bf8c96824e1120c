package lunar.scsi.block;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * READ CAPACITY(16) (SBC-4). Its obsolete LBA and PMI are not read.
 *
 * @param allocationLength maximum number of bytes to return
 */
public record ReadCapacity16(long allocationLength) implements StandardCdb {
    public static final int OPCODE = 0x9e;
    public static final int SERVICE_ACTION = 0x10;

    public ReadCapacity16 {
        CdbFields.check("allocationLength", allocationLength, 0xffff_ffffL);
    }

    public static ReadCapacity16 decode(MemorySegment cdb) {
        return new ReadCapacity16(BigEndian.int32(cdb, 10));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB16; }

    @Override
    public Direction direction() { return Direction.IN; }

    @Override
    public void encode(MemorySegment target) {
        CdbForm.CDB16.start(target, OPCODE, SERVICE_ACTION);
        BigEndian.int32(target, 10, allocationLength);
    }
}
