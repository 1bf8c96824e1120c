package lunar.scsi;

import java.lang.foreign.MemorySegment;

/**
 * READ CAPACITY(16) (SBC-4). Its obsolete LBA and PMI are not read.
 *
 * @param allocationLength most bytes to return
 */
public record ReadCapacity16(long allocationLength) implements StandardCdb {
    static final int OPCODE = 0x9e;
    static final int SERVICE_ACTION = 0x10;

    public ReadCapacity16 {
        CdbFields.check("allocationLength", allocationLength, 0xffff_ffffL);
    }

    static ReadCapacity16 decode(MemorySegment cdb) {
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
        CdbFields.start(target, CdbForm.CDB16, OPCODE, SERVICE_ACTION);
        BigEndian.int32(target, 10, allocationLength);
    }
}
