package lunar.iscsi.pdu;

import lunar.iscsi.ProtocolException;

/**
 * Logout Request (RFC 7143 section 11.14).
 *
 * @param cid connection to close or to recover; reserved when closing the session
 */
public record LogoutRequest(boolean immediate, LogoutReason reason, int itt, int cid, int cmdSn,
        int expStatSn) implements InitiatorPdu {
    public static final int OPCODE = 0x06;
    public static final int CID = 20;

    private static final int REASON_MASK = 0x7f;

    public static LogoutRequest decode(Bhs bhs) throws ProtocolException {
        HeaderRule.requireFinal(bhs, "Logout Request", "11.14");
        HeaderRule.requireTask(bhs, "Logout Request", "11.2.1.8");
        return new LogoutRequest(bhs.immediate(), LogoutReason.decode(bhs.flags() & REASON_MASK),
                bhs.itt(), bhs.int16(CID), bhs.int32(CMD_SN), bhs.int32(EXP_STAT_SN));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public void encode(Bhs bhs) {
        bhs.start(OPCODE, immediate, HeaderRule.FINAL | reason.code()).int32(ITT, itt)
                .int16(CID, cid).int32(CMD_SN, cmdSn).int32(EXP_STAT_SN, expStatSn);
    }
}
