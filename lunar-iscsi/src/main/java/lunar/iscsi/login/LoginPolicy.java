package lunar.iscsi.login;

import java.util.Optional;
import lunar.iscsi.LoginStatus;
import lunar.iscsi.pdu.Isid;
import lunar.iscsi.text.TargetAddress;

/**
 * Admits or rejects logins at the target; called once per login, when the first request is complete, before any
 * authentication.
 */
@FunctionalInterface
public interface LoginPolicy {
    /**
     * Claimed, unauthenticated identity of an initiator. Only the complete login reinstates sessions and adds
     * connections.
     *
     * @param initiatorName InitiatorName in lower case, 1 to 223 bytes without control characters
     * @param initiatorAlias InitiatorAlias
     * @param sessionType SessionType
     * @param targetName TargetName; always present in a normal session
     * @param isid ISID
     * @param tsih 0 for a new session, else the session to join
     * @param cid connection ID
     */
    record Applicant(String initiatorName, Optional<String> initiatorAlias, SessionType sessionType,
            Optional<String> targetName, Isid isid, int tsih, int cid) {}

    /** The decision. */
    sealed interface Admission {
        /**
         * Admits the login.
         *
         * @param offer parameters that the target offers and accepts
         * @param chap authentication of the initiator; empty for none
         * @param targetAlias TargetAlias to declare
         * @param portalGroupTag TargetPortalGroupTag of the portal, 0 to 65535
         * @param tsih the TSIH that the request names; 0 for a new session, which gets a TSIH when the login is
         *        complete, so that failed or slow logins hold none
         * @param session parameters of the session that the connection joins; empty for a new session
         */
        record Accept(Offer offer, Optional<ChapPolicy> chap, Optional<String> targetAlias,
                int portalGroupTag, int tsih, Optional<OperationalParameters> session)
                implements
                Admission {
            public Accept {
                if (tsih < 0 || tsih > 0xffff || portalGroupTag < 0 || portalGroupTag > 0xffff) {
                    throw new IllegalArgumentException(
                            "TSIH " + tsih + ", portal group tag " + portalGroupTag);
                }
            }

            /** A new session, for everybody. */
            public static Accept newSession(Offer offer, int portalGroupTag, int tsih) {
                return new Accept(offer, Optional.empty(), Optional.empty(), portalGroupTag, tsih,
                        Optional.empty());
            }

            /** Returns this answer, but the initiator must prove itself. */
            public Accept withChap(ChapPolicy policy) {
                return new Accept(offer, Optional.of(policy), targetAlias, portalGroupTag, tsih,
                        session);
            }

            /** Returns this answer with an alias. */
            public Accept withTargetAlias(String alias) {
                return new Accept(offer, chap, Optional.of(alias), portalGroupTag, tsih, session);
            }

            /** Returns this answer for a connection that joins a session. */
            public Accept joining(OperationalParameters parameters) {
                return new Accept(offer, chap, targetAlias, portalGroupTag, tsih,
                        Optional.of(parameters));
            }
        }

        /**
         * Rejects the login.
         *
         * @param status status for the initiator, neither SUCCESS nor a redirection
         * @param reason one line for the log
         */
        record Refuse(LoginStatus status, String reason) implements Admission {
            public Refuse {
                if (status.statusClass() < 2) {
                    throw new IllegalArgumentException(status + " is no refusal");
                }
            }
        }

        /** Somewhere else. */
        record Redirect(TargetAddress address, boolean permanent) implements Admission {}
    }

    /** Decides. Called on the connection's thread; must not block for long. */
    Admission admit(Applicant applicant);
}
