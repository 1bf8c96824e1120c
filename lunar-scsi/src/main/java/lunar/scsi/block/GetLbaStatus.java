package lunar.scsi.block;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * GET LBA STATUS(16) (SBC-4): queries the provisioning of blocks.
 *
 * @param lba first block to report
 * @param allocationLength maximum number of bytes to return
 * @param reportType REPORT TYPE, one of the constants
 */
public record GetLbaStatus(long lba, long allocationLength, int reportType) implements StandardCdb {
    /** Every block. */
    public static final int ALL = 0x00;
    /** Blocks that are not just mapped. */
    public static final int NOT_MAPPED = 0x01;
    public static final int MAPPED = 0x02;
    public static final int DEALLOCATED = 0x03;
    public static final int ANCHORED = 0x04;
    /** Blocks that may fail to read. */
    public static final int UNRECOVERED_ERRORS = 0x10;

    static final int OPCODE = 0x9e;
    public static final int SERVICE_ACTION = 0x12;

    public GetLbaStatus {
        CdbFields.check("allocationLength", allocationLength, 0xffff_ffffL);
        CdbFields.check("reportType", reportType, 0xff);
    }

    public static GetLbaStatus decode(MemorySegment cdb) {
        return new GetLbaStatus(BigEndian.int64(cdb, 2), BigEndian.int32(cdb, 10),
                BigEndian.int8(cdb, 14));
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
        BigEndian.int64(target, 2, lba);
        BigEndian.int32(target, 10, allocationLength);
        BigEndian.int8(target, 14, reportType);
    }
}
