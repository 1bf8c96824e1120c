package lunar.target.internal.session;

import java.util.Optional;
import java.util.OptionalInt;
import lunar.iscsi.LoginStatus;
import lunar.iscsi.login.ChapPolicy;
import lunar.iscsi.login.LoginPolicy.Admission;
import lunar.iscsi.login.LoginPolicy.Applicant;
import lunar.iscsi.login.Offer;
import lunar.iscsi.login.SessionType;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.text.PeerText;
import lunar.target.Absence;
import lunar.target.InitiatorSpec;
import lunar.target.SessionLimits;
import lunar.target.TargetSpec;

/** Decides which initiator may log in to which target by which portal (RFC 7143 section 11.13.5). Thread-safe. */
final class Admissions {
    /** TSIH of a login for a new session, which gets its TSIH when the login is complete. */
    private static final int NEW_SESSION = 0;

    private final ServerState server;
    private final Offer offer;
    private final Optional<ChapPolicy> discoveryChap;

    Admissions(ServerState server, Offer offer, Optional<ChapPolicy> discoveryChap) {
        this.server = server;
        SessionLimits limits = server.sessions().limits();
        this.offer = offer
                .withDefaultTime2WaitSeconds(
                        Math.min(offer.defaultTime2WaitSeconds(), limits.maxTime2WaitSeconds()))
                .withDefaultTime2RetainSeconds(Math.min(offer.defaultTime2RetainSeconds(),
                        limits.maxTime2RetainSeconds()));
        this.discoveryChap = discoveryChap;
    }

    Admission admit(Applicant applicant, BoundPortal portal, Transport transport) {
        if (server.isClosing()) {
            return refuse(LoginStatus.SERVICE_UNAVAILABLE, "the server is shutting down");
        }
        if (!server.portals().all().contains(portal)) { // not in use yet, or no longer
            return refuse(LoginStatus.SERVICE_UNAVAILABLE, "the portal is not in use");
        }
        if (applicant.sessionType() == SessionType.DISCOVERY) {
            if (applicant.tsih() != 0) { // a discovery session has one connection (section 4.3)
                return refuse(LoginStatus.SESSION_DOES_NOT_EXIST,
                        "a discovery session has only one connection");
            }
            return new Admission.Accept(transport.offer(offer), discoveryChap, Optional.empty(),
                    portal.group(), NEW_SESSION, Optional.empty());
        }
        String name = applicant.targetName().orElse("");
        TargetNode target = server.target(name);
        if (target == null) {
            return refuse(LoginStatus.NOT_FOUND, "no such target: " + PeerText.printable(name));
        }
        if (!target.isIn(portal.group())) {
            return refuse(LoginStatus.NOT_FOUND,
                    "target " + name + " is not in portal group " + portal.group());
        }
        TargetSpec spec = target.spec();
        Optional<InitiatorSpec> access = spec.access(applicant.initiatorName());
        if (access.isEmpty()) {
            return refuse(LoginStatus.AUTHORIZATION_FAILURE,
                    PeerText.printable(applicant.initiatorName()) + " has no access to " + name);
        }
        if (server.drains().covers(target)) {
            return refuse(LoginStatus.SERVICE_UNAVAILABLE, Drains.REFUSAL);
        }
        if (applicant.tsih() != 0) {
            return join(applicant, target, portal, transport.offer(offer),
                    access.get().chap().or(spec::chap));
        }
        if (spec.absence().isPresent()) {
            return absent(spec.absence().get(), name);
        }
        if (portal.spec().moved().isPresent()) {
            return absent(portal.spec().moved().get(), name);
        }
        return new Admission.Accept(transport.offer(offer), access.get().chap().or(spec::chap),
                spec.alias().isEmpty() ? Optional.empty() : Optional.of(spec.alias()),
                portal.group(), NEW_SESSION, Optional.empty());
    }

    /** Admits a connection to an existing session: a new one, or a reinstatement (RFC 7143 sections 6.3.1, 6.3.4). */
    private Admission join(Applicant applicant, TargetNode target, BoundPortal portal,
            Offer wanted, Optional<ChapPolicy> chap) {
        Session joined = server.sessions().find(applicant.tsih());
        if (joined == null || !target.equals(joined.target())
                || !joined.isOfPort(applicant.initiatorName(), applicant.isid())) {
            return refuse(LoginStatus.SESSION_DOES_NOT_EXIST,
                    "no session with TSIH " + applicant.tsih());
        }
        if (!joined.login().portalGroupTag().equals(OptionalInt.of(portal.group()))) {
            return refuse(LoginStatus.CANNOT_INCLUDE_IN_SESSION,
                    "the session is in portal group "
                            + joined.login().portalGroupTag().orElseThrow());
        }
        Optional<LoginStatus> refusal = joined.refusal(applicant.cid());
        return refusal.isPresent()
                ? refuse(refusal.get(), "connection " + applicant.cid()
                        + " of the session with TSIH " + applicant.tsih())
                : new Admission.Accept(wanted, chap, Optional.empty(), portal.group(),
                        applicant.tsih(), Optional.of(joined.login().parameters()));
    }

    private static Admission absent(Absence why, String name) {
        return switch (why) {
            case Absence.Moved moved -> new Admission.Redirect(moved.to(), moved.permanent());
            case Absence.Maintenance _ ->
                refuse(LoginStatus.SERVICE_UNAVAILABLE, "target " + name + " is in maintenance");
            case Absence.Removed _ ->
                refuse(LoginStatus.TARGET_REMOVED, "target " + name + " has been removed");
        };
    }

    private static Admission refuse(LoginStatus status, String reason) {
        return new Admission.Refuse(status, reason);
    }
}
