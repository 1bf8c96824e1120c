package lunar.iscsi.pdu;

import java.util.Optional;
import lunar.iscsi.ProtocolException;

/**
 * Task Management Function Response (RFC 7143 section 11.6, RFC 7144 section 4.3).
 *
 * @param response the raw code
 * @param additionalInformation three bytes which QUERY ASYNCHRONOUS EVENT returns, else 0
 */
public record TaskManagementResponse(int response, int additionalInformation, int itt, int statSn,
        int expCmdSn, int maxCmdSn) implements TargetPdu {
    public static final int OPCODE = 0x22;
    public static final int RESPONSE = 2;
    public static final int ADDITIONAL_INFORMATION = 8;

    public TaskManagementResponse {
        if ((additionalInformation & ~0xff_ffff) != 0) {
            throw new IllegalArgumentException("additional response information has 24 bits");
        }
    }

    public static TaskManagementResponse decode(Bhs bhs) throws ProtocolException {
        HeaderRule.requireFinal(bhs, "Task Management Function Response", "11.6");
        return new TaskManagementResponse(bhs.int8(RESPONSE),
                bhs.int32(ADDITIONAL_INFORMATION) >>> 8, bhs.itt(), bhs.int32(STAT_SN),
                bhs.int32(EXP_CMD_SN), bhs.int32(MAX_CMD_SN));
    }

    @Override
    public int opcode() { return OPCODE; }

    /** The response, if an RFC defines one with the code. */
    public Optional<TaskManagementResponseCode> knownResponse() {
        return TaskManagementResponseCode.of(response);
    }

    @Override
    public void encode(Bhs bhs) {
        bhs.start(OPCODE, false, HeaderRule.FINAL).int8(RESPONSE, response)
                .int32(ADDITIONAL_INFORMATION, additionalInformation << 8).int32(ITT, itt)
                .int32(STAT_SN, statSn).int32(EXP_CMD_SN, expCmdSn).int32(MAX_CMD_SN, maxCmdSn);
    }
}
