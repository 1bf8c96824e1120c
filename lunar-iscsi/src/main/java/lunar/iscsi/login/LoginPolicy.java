package lunar.iscsi.login;

import java.util.Optional;
import lunar.iscsi.LoginStatus;
import lunar.iscsi.pdu.Isid;
import lunar.iscsi.text.TargetAddress;

/** Decides about a login at the target; asked once, when the first request is complete, before any authentication. */
@FunctionalInterface
public interface LoginPolicy {
    /**
     * Claimed identity. Nothing is proved yet: the complete login reinstates sessions and adds connections.
     *
     * @param initiatorName InitiatorName in lower case, 1 to 223 bytes without control characters
     * @param initiatorAlias InitiatorAlias
     * @param sessionType SessionType
     * @param targetName TargetName; always there in a normal session
     * @param isid ISID
     * @param tsih 0 for a new session, else the session to join
     * @param cid connection ID
     */
    record Applicant(String initiatorName, Optional<String> initiatorAlias, SessionType sessionType,
            Optional<String> targetName, Isid isid, int tsih, int cid) {}

    /** The decision. */
    sealed interface Admission {
        /**
         * Go on.
         *
         * @param offer what the target wants and accepts
         * @param chap how the initiator proves itself; empty lets everybody in
         * @param targetAlias TargetAlias to declare
         * @param portalGroupTag TargetPortalGroupTag of the portal, 0 to 65535
         * @param tsih the TSIH that the request names; 0 for a new session, to which the shell gives one when the login
         *        is complete, so that no login that fails or takes its time holds a number
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
         * No.
         *
         * @param status what the initiator is told, not SUCCESS and no redirection
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
