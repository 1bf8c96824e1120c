package lunar.iscsi.pdu;

import java.lang.foreign.MemorySegment;
import lunar.iscsi.ProtocolException;

/** PDU sent by an initiator and received by a target. */
public sealed interface InitiatorPdu extends Pdu
        permits NopOut, ScsiCommand, TaskManagementRequest, LoginRequest, TextRequest, DataOut,
        LogoutRequest, SnackRequest {
    /** Offset of CmdSN; Data-Out and SNACK have none. */
    int CMD_SN = 24;

    /** Offset of ExpStatSN. */
    int EXP_STAT_SN = 28;

    /** Whether the I bit asks for delivery out of order (section 11.2.1.1); false for Data-Out and SNACK. */
    boolean immediate();

    /** ExpStatSN: the next status number which the initiator expects; all before it have arrived. */
    int expStatSn();

    /**
     * The header of a PDU from an initiator.
     *
     * @param ahs the additional header segments, of the length which the header tells
     * @throws ProtocolException for an opcode no initiator sends, and for a header which breaks a rule of its PDU
     */
    static InitiatorPdu decode(Bhs bhs, MemorySegment ahs) throws ProtocolException {
        int opcode = bhs.opcode();
        if (opcode != ScsiCommand.OPCODE) {
            HeaderRule.withoutAhs(bhs);
        }
        return switch (opcode) {
            case NopOut.OPCODE -> NopOut.decode(bhs);
            case ScsiCommand.OPCODE -> ScsiCommand.decode(bhs, ahs);
            case TaskManagementRequest.OPCODE -> TaskManagementRequest.decode(bhs);
            case LoginRequest.OPCODE -> LoginRequest.decode(bhs);
            case TextRequest.OPCODE -> TextRequest.decode(bhs);
            case DataOut.OPCODE -> DataOut.decode(bhs);
            case LogoutRequest.OPCODE -> LogoutRequest.decode(bhs);
            case SnackRequest.OPCODE -> SnackRequest.decode(bhs);
            default -> throw HeaderRule.unknownOpcode(opcode, "an initiator");
        };
    }
}
