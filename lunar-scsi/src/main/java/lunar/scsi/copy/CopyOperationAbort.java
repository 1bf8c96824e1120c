package lunar.scsi.copy;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * COPY OPERATION ABORT (SPC-5 section 6.3): ends a copy operation of the same I_T nexus.
 *
 * @param listIdentifier which one
 */
public record CopyOperationAbort(long listIdentifier) implements StandardCdb {
    public static final int SERVICE_ACTION = 0x1c;

    public CopyOperationAbort {
        CdbFields.check("listIdentifier", listIdentifier, 0xffff_ffffL);
    }

    static CopyOperationAbort decode(MemorySegment cdb) {
        return new CopyOperationAbort(BigEndian.int32(cdb, 2));
    }

    @Override
    public int opcode() { return ExtendedCopy.OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB16; }

    @Override
    public Direction direction() { return Direction.NONE; }

    @Override
    public void encode(MemorySegment target) {
        CdbForm.CDB16.start(target, ExtendedCopy.OPCODE, SERVICE_ACTION);
        BigEndian.int32(target, 2, listIdentifier);
    }
}
