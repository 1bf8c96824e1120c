package lunar.iscsi.pdu;

import java.util.Optional;
import lunar.iscsi.ProtocolException;

/**
 * Logout Response (RFC 7143 section 11.15).
 *
 * @param response the raw code
 * @param time2WaitSeconds Time2Wait: time to wait before tasks are reassigned
 * @param time2RetainSeconds Time2Retain: time after that for which the target keeps them
 */
public record LogoutResponse(int response, int itt, int statSn, int expCmdSn, int maxCmdSn,
        int time2WaitSeconds, int time2RetainSeconds) implements TargetPdu {
    public static final int OPCODE = 0x26;
    public static final int RESPONSE = 2;
    public static final int TIME2WAIT = 40;
    public static final int TIME2RETAIN = 42;

    public static LogoutResponse decode(Bhs bhs) throws ProtocolException {
        HeaderRule.requireFinal(bhs, "Logout Response", "11.15");
        return new LogoutResponse(bhs.int8(RESPONSE), bhs.itt(), bhs.int32(STAT_SN),
                bhs.int32(EXP_CMD_SN), bhs.int32(MAX_CMD_SN), bhs.int16(TIME2WAIT),
                bhs.int16(TIME2RETAIN));
    }

    @Override
    public int opcode() { return OPCODE; }

    /** The response, if the RFC defines one with the code. */
    public Optional<LogoutResponseCode> knownResponse() {
        return LogoutResponseCode.of(response);
    }

    @Override
    public void encode(Bhs bhs) {
        bhs.start(OPCODE, false, HeaderRule.FINAL).int8(RESPONSE, response).int32(ITT, itt)
                .int32(STAT_SN, statSn).int32(EXP_CMD_SN, expCmdSn).int32(MAX_CMD_SN, maxCmdSn)
                .int16(TIME2WAIT, time2WaitSeconds).int16(TIME2RETAIN, time2RetainSeconds);
    }
}
