package lunar.iscsi.pdu;

import java.lang.foreign.MemorySegment;
import lunar.iscsi.ProtocolException;

/** PDU sent by a target and received by an initiator. Each contains the target's ExpCmdSN and MaxCmdSN. */
public sealed interface TargetPdu extends Pdu
        permits NopIn, ScsiResponse, TaskManagementResponse, LoginResponse, TextResponse, DataIn,
        LogoutResponse, R2t, AsyncMessage, Reject {
    /** Offset of StatSN. */
    int STAT_SN = 24;

    /** Offset of ExpCmdSN. */
    int EXP_CMD_SN = 28;

    /** Offset of MaxCmdSN. */
    int MAX_CMD_SN = 32;

    /** StatSN; the next number, not used up, in R2T and in a NOP-In that asks; 0 in a Data-In without status. */
    int statSn();

    /** ExpCmdSN: the next command number which the target expects. */
    int expCmdSn();

    /** MaxCmdSN: the last command number which the target will take. */
    int maxCmdSn();

    /**
     * The header of a PDU from a target.
     *
     * @param ahs the additional header segments; no PDU of a target has any
     * @throws ProtocolException for an opcode no target sends, and for a header which breaks a rule of its PDU
     */
    static TargetPdu decode(Bhs bhs, MemorySegment ahs) throws ProtocolException {
        HeaderRule.withoutAhs(bhs);
        HeaderRule.require(ahs.byteSize() == 0, "a PDU of a target has no AHS", "11.2.1.5");
        int opcode = bhs.opcode();
        return switch (opcode) {
            case NopIn.OPCODE -> NopIn.decode(bhs);
            case ScsiResponse.OPCODE -> ScsiResponse.decode(bhs);
            case TaskManagementResponse.OPCODE -> TaskManagementResponse.decode(bhs);
            case LoginResponse.OPCODE -> LoginResponse.decode(bhs);
            case TextResponse.OPCODE -> TextResponse.decode(bhs);
            case DataIn.OPCODE -> DataIn.decode(bhs);
            case LogoutResponse.OPCODE -> LogoutResponse.decode(bhs);
            case R2t.OPCODE -> R2t.decode(bhs);
            case AsyncMessage.OPCODE -> AsyncMessage.decode(bhs);
            case Reject.OPCODE -> Reject.decode(bhs);
            default -> throw HeaderRule.unknownOpcode(opcode, "a target");
        };
    }
}
