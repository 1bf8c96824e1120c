package lunar.iscsi.pdu;

import java.util.Optional;
import lunar.iscsi.LoginStatus;
import lunar.iscsi.ProtocolException;

/**
 * Login Response (RFC 7143 section 11.13).
 *
 * @param transit T: the target accepts the transition to the next stage
 * @param continues C: the text continues in the next response
 * @param nextStage equal to the current stage without transit
 * @param tsih the new session's, in the last response of its first login; 0 before
 * @param statusClass raw; 0 is success, see {@link LoginStatus}
 * @param statusDetail raw
 */
public record LoginResponse(boolean transit, boolean continues, LoginStage currentStage,
        LoginStage nextStage, int versionMax, int versionActive, Isid isid, int tsih, int itt,
        int statSn, int expCmdSn, int maxCmdSn, int statusClass, int statusDetail)
        implements
        TargetPdu {
    public static final int OPCODE = 0x23;
    public static final int VERSION_MAX = 2;
    public static final int VERSION_ACTIVE = 3;
    public static final int ISID = 8;
    public static final int TSIH = 14;
    public static final int STATUS_CLASS = 36;
    public static final int STATUS_DETAIL = 37;

    public LoginResponse {
        if (!transit) {
            nextStage = currentStage; // NSG is reserved without T
        }
    }

    public static LoginResponse decode(Bhs bhs) throws ProtocolException {
        LoginFlags flags = LoginFlags.decode(bhs);
        int statusClass = bhs.int8(STATUS_CLASS);
        if (statusClass == 0) {
            flags.requireTransition(); // other fields of a rejection are irrelevant
        }
        return new LoginResponse(flags.transit(), flags.continues(), flags.currentStage(),
                flags.nextStage(), bhs.int8(VERSION_MAX), bhs.int8(VERSION_ACTIVE),
                Isid.decode(bhs), bhs.int16(TSIH), bhs.itt(), bhs.int32(STAT_SN),
                bhs.int32(EXP_CMD_SN), bhs.int32(MAX_CMD_SN), statusClass,
                bhs.int8(STATUS_DETAIL));
    }

    @Override
    public int opcode() { return OPCODE; }

    /** The status, if the RFC defines one with this class and detail. */
    public Optional<LoginStatus> knownStatus() {
        return LoginStatus.of(statusClass, statusDetail);
    }

    @Override
    public void encode(Bhs bhs) {
        bhs.start(OPCODE, false,
                new LoginFlags(transit, continues, currentStage, nextStage).encode())
                .int8(VERSION_MAX, versionMax).int8(VERSION_ACTIVE, versionActive)
                .int64(ISID, isid.value() << 16 | tsih).int32(ITT, itt).int32(STAT_SN, statSn)
                .int32(EXP_CMD_SN, expCmdSn).int32(MAX_CMD_SN, maxCmdSn)
                .int8(STATUS_CLASS, statusClass).int8(STATUS_DETAIL, statusDetail);
    }
}
