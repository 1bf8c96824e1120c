package lunar.iscsi.pdu;

import java.util.Optional;
import lunar.iscsi.ProtocolException;
import lunar.scsi.Lun;

/**
 * Asynchronous Message (RFC 7143 section 11.9).
 *
 * @param lun of a SCSI event and of a task termination, else 0
 * @param event the raw code
 * @param vendorCode AsyncVCode: of a vendor's event, else 0
 * @param parameter1 as the event has it, see {@link AsyncEvent}
 */
public record AsyncMessage(Lun lun, int statSn, int expCmdSn, int maxCmdSn, int event,
        int vendorCode, int parameter1, int parameter2, int parameter3) implements TargetPdu {
    public static final int OPCODE = 0x32;
    public static final int ASYNC_EVENT = 36;
    public static final int ASYNC_VCODE = 37;
    public static final int PARAMETER1 = 38;
    public static final int PARAMETER2 = 40;
    public static final int PARAMETER3 = 42;

    public static AsyncMessage decode(Bhs bhs) throws ProtocolException {
        HeaderRule.requireFinal(bhs, "Asynchronous Message", "11.9");
        return new AsyncMessage(new Lun(bhs.lun()), bhs.int32(STAT_SN), bhs.int32(EXP_CMD_SN),
                bhs.int32(MAX_CMD_SN), bhs.int8(ASYNC_EVENT), bhs.int8(ASYNC_VCODE),
                bhs.int16(PARAMETER1), bhs.int16(PARAMETER2), bhs.int16(PARAMETER3));
    }

    @Override
    public int opcode() { return OPCODE; }

    /** None: no task has caused this. */
    @Override
    public int itt() { return Bhs.NO_TAG; }

    /** The event, if the RFC defines one with the code. */
    public Optional<AsyncEvent> knownEvent() {
        return AsyncEvent.of(event);
    }

    @Override
    public void encode(Bhs bhs) {
        bhs.start(OPCODE, false, HeaderRule.FINAL).int64(LUN, lun.value()).int32(ITT, Bhs.NO_TAG)
                .int32(STAT_SN, statSn).int32(EXP_CMD_SN, expCmdSn).int32(MAX_CMD_SN, maxCmdSn)
                .int8(ASYNC_EVENT, event).int8(ASYNC_VCODE, vendorCode)
                .int16(PARAMETER1, parameter1).int16(PARAMETER2, parameter2)
                .int16(PARAMETER3, parameter3);
    }
}
