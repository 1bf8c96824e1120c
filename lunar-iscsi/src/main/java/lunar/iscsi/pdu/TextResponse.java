package lunar.iscsi.pdu;

import lunar.iscsi.ProtocolException;
import lunar.scsi.Lun;

/**
 * Text Response (RFC 7143 section 11.11).
 *
 * @param isFinal F: the target ends the negotiation
 * @param continues C: the text continues in the next response
 * @param lun valid with a Target Transfer Tag
 * @param ttt tag that the next request returns; {@link Bhs#NO_TAG} in a final response
 */
public record TextResponse(boolean isFinal, boolean continues, Lun lun, int itt, int ttt,
        int statSn, int expCmdSn, int maxCmdSn) implements TargetPdu {
    public static final int OPCODE = 0x24;

    public TextResponse {
        if (isFinal && continues) {
            throw new IllegalArgumentException("F and C of a Text Response exclude each other");
        }
        if (!isFinal && ttt == Bhs.NO_TAG) {
            throw new IllegalArgumentException("a text that is not final needs a tag");
        }
    }

    public static TextResponse decode(Bhs bhs) throws ProtocolException {
        boolean continues = (bhs.flags() & HeaderRule.CONTINUE) != 0;
        HeaderRule.require(!(bhs.isFinal() && continues),
                "F and C of a Text Response exclude each other", "11.11.2");
        // A tag in a final response is against section 11.11.3 too, and does no harm: it is never returned.
        HeaderRule.require(bhs.isFinal() || bhs.ttt() != Bhs.NO_TAG,
                "a Text Response that is not final needs a Target Transfer Tag", "11.11.3");
        return new TextResponse(bhs.isFinal(), continues, new Lun(bhs.lun()), bhs.itt(),
                bhs.ttt(), bhs.int32(STAT_SN), bhs.int32(EXP_CMD_SN), bhs.int32(MAX_CMD_SN));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public void encode(Bhs bhs) {
        int flags = (isFinal ? HeaderRule.FINAL : 0) | (continues ? HeaderRule.CONTINUE : 0);
        bhs.start(OPCODE, false, flags).int64(LUN, lun.value()).int32(ITT, itt).int32(TTT, ttt)
                .int32(STAT_SN, statSn).int32(EXP_CMD_SN, expCmdSn).int32(MAX_CMD_SN, maxCmdSn);
    }
}
