package lunar.iscsi.login;

import java.util.Optional;
import java.util.OptionalInt;
import lunar.iscsi.pdu.Isid;

/**
 * Result of a successful login; equal at both ends except for the perspective of {@code parameters}.
 *
 * @param parameters negotiated parameters of the connection and its session
 * @param initiatorName InitiatorName
 * @param initiatorAlias InitiatorAlias
 * @param sessionType SessionType
 * @param targetName TargetName; always present in a normal session
 * @param targetAlias TargetAlias
 * @param portalGroupTag TargetPortalGroupTag; empty if the target sent none, as in discovery
 * @param isid ISID
 * @param tsih the session's TSIH; at the target 0 until {@link #withTsih} assigns one to a new session, at an initiator
 *        0 if the target has returned none, so that no connection can join
 * @param cid connection ID
 * @param chapUser at the target: the CHAP_N of the authenticated initiator; at the initiator: the CHAP_N of the
 *        authenticated target
 */
public record LoginResult(OperationalParameters parameters, String initiatorName,
        Optional<String> initiatorAlias, SessionType sessionType, Optional<String> targetName,
        Optional<String> targetAlias, OptionalInt portalGroupTag, Isid isid, int tsih, int cid,
        Optional<String> chapUser) {
    /** With the TSIH of the session. */
    public LoginResult withTsih(int given) {
        return new LoginResult(parameters, initiatorName, initiatorAlias, sessionType, targetName,
                targetAlias, portalGroupTag, isid, given, cid, chapUser);
    }
}
