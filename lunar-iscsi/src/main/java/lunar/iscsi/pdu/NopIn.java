package lunar.iscsi.pdu;

import lunar.iscsi.ProtocolException;
import lunar.scsi.Lun;

/**
 * NOP-In (RFC 7143 section 11.19): the response to a ping of the initiator, a ping of the target, or an update of the
 * command window.
 *
 * @param lun valid with a Target Transfer Tag
 * @param itt task tag of the NOP-Out, {@link Bhs#NO_TAG} if this is not a response
 * @param ttt tag of a ping, {@link Bhs#NO_TAG} if no NOP-Out is requested
 * @param statSn the next StatSN, not consumed unless this is a response
 */
public record NopIn(Lun lun, int itt, int ttt, int statSn, int expCmdSn, int maxCmdSn)
        implements
        TargetPdu {
    public static final int OPCODE = 0x20;

    public NopIn {
        if (itt != Bhs.NO_TAG && ttt != Bhs.NO_TAG) {
            throw new IllegalArgumentException("a NOP-In cannot be both response and ping");
        }
    }

    public static NopIn decode(Bhs bhs) throws ProtocolException {
        HeaderRule.requireFinal(bhs, "NOP-In", "11.19");
        HeaderRule.require(bhs.itt() == Bhs.NO_TAG || bhs.ttt() == Bhs.NO_TAG,
                "a NOP-In cannot be both response and ping", "11.19.1");
        return new NopIn(new Lun(bhs.lun()), bhs.itt(), bhs.ttt(), bhs.int32(STAT_SN),
                bhs.int32(EXP_CMD_SN), bhs.int32(MAX_CMD_SN));
    }

    @Override
    public int opcode() { return OPCODE; }

    /** Whether a NOP-Out is to answer this. */
    public boolean isPing() { return ttt != Bhs.NO_TAG; }

    @Override
    public void encode(Bhs bhs) {
        bhs.start(OPCODE, false, HeaderRule.FINAL).int64(LUN, lun.value()).int32(ITT, itt)
                .int32(TTT, ttt).int32(STAT_SN, statSn).int32(EXP_CMD_SN, expCmdSn)
                .int32(MAX_CMD_SN, maxCmdSn);
    }
}
