package lunar.iscsi.pdu;

import java.util.Optional;
import lunar.iscsi.ProtocolException;

/**
 * Reject (RFC 7143 section 11.17). Its data segment is the rejected header without digest and padding.
 *
 * @param reason the raw code
 * @param dataSn DataSN/R2TSN: number of the next R2T after a data digest error of Data-Out; otherwise 0
 */
public record Reject(int reason, int statSn, int expCmdSn, int maxCmdSn, int dataSn)
        implements
        TargetPdu {
    public static final int OPCODE = 0x3f;
    public static final int REASON = 2;
    public static final int DATA_SN = 36;

    public static Reject decode(Bhs bhs) throws ProtocolException {
        HeaderRule.requireFinal(bhs, "Reject", "11.17");
        return new Reject(bhs.int8(REASON), bhs.int32(STAT_SN), bhs.int32(EXP_CMD_SN),
                bhs.int32(MAX_CMD_SN), bhs.int32(DATA_SN));
    }

    @Override
    public int opcode() { return OPCODE; }

    /** None: the task's tag, if any, is in the header which the data segment holds. */
    @Override
    public int itt() { return Bhs.NO_TAG; }

    /** The reason, if the RFC defines one with the code. */
    public Optional<RejectReason> knownReason() {
        return RejectReason.of(reason);
    }

    @Override
    public void encode(Bhs bhs) {
        bhs.start(OPCODE, false, HeaderRule.FINAL).int8(REASON, reason).int32(ITT, Bhs.NO_TAG)
                .int32(STAT_SN, statSn).int32(EXP_CMD_SN, expCmdSn).int32(MAX_CMD_SN, maxCmdSn)
                .int32(DATA_SN, dataSn);
    }
}
