package lunar.scsi.reservation;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * PERSISTENT RESERVE OUT (SPC-5).
 *
 * @param serviceAction SERVICE ACTION
 * @param scope SCOPE; 0 for the logical unit
 * @param type TYPE of the reservation
 * @param parameterListLength bytes of data-out
 */
public record PersistentReserveOut(int serviceAction, int scope, int type,
        long parameterListLength) implements StandardCdb {
    public static final int REGISTER = 0;
    public static final int RESERVE = 1;
    public static final int RELEASE = 2;
    public static final int CLEAR = 3;
    public static final int PREEMPT = 4;
    public static final int PREEMPT_AND_ABORT = 5;
    public static final int REGISTER_AND_IGNORE_EXISTING_KEY = 6;
    public static final int REGISTER_AND_MOVE = 7;
    public static final int REPLACE_LOST_RESERVATION = 8;

    public static final int OPCODE = 0x5f;

    public PersistentReserveOut {
        CdbFields.check("serviceAction", serviceAction, 0x1f);
        CdbFields.check("scope", scope, 0xf);
        CdbFields.check("type", type, 0xf);
        CdbFields.check("parameterListLength", parameterListLength, 0xffff_ffffL);
    }

    public static PersistentReserveOut decode(MemorySegment cdb) {
        int scopeAndType = BigEndian.int8(cdb, 2);
        return new PersistentReserveOut(CdbFields.serviceAction(cdb), scopeAndType >> 4,
                scopeAndType & 0xf, BigEndian.int32(cdb, 5));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB10; }

    @Override
    public Direction direction() {
        return parameterListLength == 0 ? Direction.NONE : Direction.OUT;
    }

    @Override
    public void encode(MemorySegment target) {
        CdbForm.CDB10.start(target, OPCODE, serviceAction);
        BigEndian.int8(target, 2, scope << 4 | type);
        BigEndian.int32(target, 5, parameterListLength);
    }
}
