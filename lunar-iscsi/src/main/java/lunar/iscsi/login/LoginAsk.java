package lunar.iscsi.login;

import java.lang.foreign.MemorySegment;
import lunar.iscsi.pdu.Isid;
import lunar.iscsi.pdu.LoginRequest;
import lunar.iscsi.pdu.LoginStage;

/**
 * Fields of a Login Request that negotiation needs (RFC 7143 section 11.12). The caller adds sequence numbers and task
 * tag.
 *
 * @param transit the T bit
 * @param more the C bit: the text continues in the next request
 * @param stage CSG
 * @param nextStage NSG; valid only with {@code transit}
 * @param versionMax Version-max
 * @param versionMin Version-min
 * @param isid ISID
 * @param tsih TSIH, 0 for a new session
 * @param cid connection ID
 * @param text the data segment; valid only during the call that receives it
 */
public record LoginAsk(boolean transit, boolean more, LoginStage stage, LoginStage nextStage,
        int versionMax, int versionMin, Isid isid, int tsih, int cid, MemorySegment text) {

    /** Takes the header fields from a request. */
    public static LoginAsk of(LoginRequest request, MemorySegment text) {
        return new LoginAsk(request.transit(), request.continues(), request.currentStage(),
                request.nextStage(), request.versionMax(), request.versionMin(), request.isid(),
                request.tsih(), request.cid(), text);
    }

    /** The header to send. */
    public LoginRequest request(int itt, int cmdSn, int expStatSn) {
        return new LoginRequest(transit, more, stage, nextStage, versionMax, versionMin, isid, tsih,
                itt, cid, cmdSn, expStatSn);
    }
}
