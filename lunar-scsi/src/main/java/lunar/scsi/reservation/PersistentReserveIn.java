package lunar.scsi.reservation;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * PERSISTENT RESERVE IN (SPC-5).
 *
 * @param serviceAction SERVICE ACTION: 0 keys, 1 reservation, 2 capabilities, 3 full status
 * @param allocationLength maximum number of bytes to return
 */
public record PersistentReserveIn(int serviceAction, int allocationLength) implements StandardCdb {
    public static final int READ_KEYS = 0;
    public static final int READ_RESERVATION = 1;
    public static final int REPORT_CAPABILITIES = 2;
    public static final int READ_FULL_STATUS = 3;

    public static final int OPCODE = 0x5e;

    public PersistentReserveIn {
        CdbFields.check("serviceAction", serviceAction, 0x1f);
        CdbFields.check("allocationLength", allocationLength, 0xffff);
    }

    public static PersistentReserveIn decode(MemorySegment cdb) {
        return new PersistentReserveIn(CdbFields.serviceAction(cdb), BigEndian.int16(cdb, 7));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB10; }

    @Override
    public Direction direction() { return Direction.IN; }

    @Override
    public void encode(MemorySegment target) {
        CdbForm.CDB10.start(target, OPCODE, serviceAction);
        BigEndian.int16(target, 7, allocationLength);
    }
}
