package lunar.iscsi.pdu;

import lunar.iscsi.ProtocolException;
import lunar.scsi.Lun;

/**
 * Text Request (RFC 7143 section 11.10).
 *
 * @param isFinal F: the initiator ends the negotiation
 * @param continues C: the text continues in the next request
 * @param lun LUN of the response that this continues, otherwise 0
 * @param ttt tag of the response that this continues, otherwise {@link Bhs#NO_TAG}
 */
public record TextRequest(boolean immediate, boolean isFinal, boolean continues, Lun lun, int itt,
        int ttt, int cmdSn, int expStatSn) implements InitiatorPdu {
    public static final int OPCODE = 0x04;

    public TextRequest {
        if (isFinal && continues) {
            throw new IllegalArgumentException("F and C of a Text Request exclude each other");
        }
    }

    public static TextRequest decode(Bhs bhs) throws ProtocolException {
        boolean continues = (bhs.flags() & HeaderRule.CONTINUE) != 0;
        HeaderRule.require(!(bhs.isFinal() && continues),
                "F and C of a Text Request exclude each other", "11.10.2");
        HeaderRule.requireTask(bhs, "Text Request", "11.2.1.8");
        return new TextRequest(bhs.immediate(), bhs.isFinal(), continues, new Lun(bhs.lun()),
                bhs.itt(), bhs.ttt(), bhs.int32(CMD_SN), bhs.int32(EXP_STAT_SN));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public void encode(Bhs bhs) {
        int flags = (isFinal ? HeaderRule.FINAL : 0) | (continues ? HeaderRule.CONTINUE : 0);
        bhs.start(OPCODE, immediate, flags).int64(LUN, lun.value()).int32(ITT, itt)
                .int32(TTT, ttt).int32(CMD_SN, cmdSn).int32(EXP_STAT_SN, expStatSn);
    }
}
