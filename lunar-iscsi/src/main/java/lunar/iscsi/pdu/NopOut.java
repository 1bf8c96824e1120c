package lunar.iscsi.pdu;

import lunar.iscsi.ProtocolException;
import lunar.scsi.Lun;

/**
 * NOP-Out (RFC 7143 section 11.18): a ping of the initiator, or its response to a ping of the target.
 *
 * @param immediate must be set without a task tag
 * @param lun LUN of the NOP-In that this answers, otherwise 0
 * @param itt task tag of a ping, {@link Bhs#NO_TAG} if no NOP-In is requested
 * @param ttt tag of the NOP-In that this answers, otherwise {@link Bhs#NO_TAG}
 */
public record NopOut(boolean immediate, Lun lun, int itt, int ttt, int cmdSn, int expStatSn)
        implements
        InitiatorPdu {
    public static final int OPCODE = 0x00;

    public NopOut {
        if (itt == Bhs.NO_TAG && !immediate) {
            throw new IllegalArgumentException("a NOP-Out without a task tag must be immediate");
        }
    }

    public static NopOut decode(Bhs bhs) throws ProtocolException {
        HeaderRule.requireFinal(bhs, "NOP-Out", "11.18");
        HeaderRule.require(bhs.itt() != Bhs.NO_TAG || bhs.immediate(),
                "NOP-Out without a task tag must be immediate", "11.18.1");
        return new NopOut(bhs.immediate(), new Lun(bhs.lun()), bhs.itt(), bhs.ttt(),
                bhs.int32(CMD_SN), bhs.int32(EXP_STAT_SN));
    }

    @Override
    public int opcode() { return OPCODE; }

    /** Whether a NOP-In is to answer this. */
    public boolean isPing() { return itt != Bhs.NO_TAG; }

    @Override
    public void encode(Bhs bhs) {
        bhs.start(OPCODE, immediate, HeaderRule.FINAL).int64(LUN, lun.value()).int32(ITT, itt)
                .int32(TTT, ttt).int32(CMD_SN, cmdSn).int32(EXP_STAT_SN, expStatSn);
    }
}
