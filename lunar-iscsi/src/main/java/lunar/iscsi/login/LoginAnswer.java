package lunar.iscsi.login;

import java.lang.foreign.MemorySegment;
import lunar.iscsi.pdu.Isid;
import lunar.iscsi.pdu.LoginResponse;
import lunar.iscsi.pdu.LoginStage;

/**
 * Fields of a Login Response that negotiation needs (RFC 7143 section 11.13). The caller adds sequence numbers and task
 * tag.
 *
 * @param transit the T bit
 * @param more the C bit: the text continues in the next response
 * @param stage CSG
 * @param nextStage NSG; valid only with {@code transit}
 * @param versionMax Version-max
 * @param versionActive Version-active
 * @param isid ISID
 * @param tsih TSIH
 * @param statusClass Status-Class
 * @param statusDetail Status-Detail
 * @param text the data segment; valid only during the call that receives it
 */
public record LoginAnswer(boolean transit, boolean more, LoginStage stage, LoginStage nextStage,
        int versionMax, int versionActive, Isid isid, int tsih, int statusClass, int statusDetail,
        MemorySegment text) {

    /** Takes the header fields from a response. */
    public static LoginAnswer of(LoginResponse response, MemorySegment text) {
        return new LoginAnswer(response.transit(), response.continues(), response.currentStage(),
                response.nextStage(), response.versionMax(), response.versionActive(),
                response.isid(), response.tsih(), response.statusClass(), response.statusDetail(),
                text);
    }

    /** With the TSIH of a new session. */
    public LoginAnswer withTsih(int given) {
        return new LoginAnswer(transit, more, stage, nextStage, versionMax, versionActive, isid,
                given, statusClass, statusDetail, text);
    }

    /** With another text. */
    public LoginAnswer withText(MemorySegment other) {
        return new LoginAnswer(transit, more, stage, nextStage, versionMax, versionActive, isid,
                tsih, statusClass, statusDetail, other);
    }

    /** The header to send. */
    public LoginResponse response(int itt, int statSn, int expCmdSn, int maxCmdSn) {
        return new LoginResponse(transit, more, stage, nextStage, versionMax, versionActive, isid,
                tsih, itt, statSn, expCmdSn, maxCmdSn, statusClass, statusDetail);
    }
}
