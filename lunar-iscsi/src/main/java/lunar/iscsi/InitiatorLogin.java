package lunar.iscsi;

import java.util.List;
import java.util.Optional;

/**
 * The initiator's side of the login phase of one connection (RFC 7143 chapter 6). {@link #first} gives the first
 * request; every response goes into {@link #receive}. Without credentials it starts in the operational stage.
 */
public final class InitiatorLogin {
    /** What to do next. */
    public sealed interface Step {}

    /** Send and wait for the response. */
    public record Send(LoginAsk ask) implements Step {}

    /** The connection is in the full feature phase. */
    public record Complete(LoginResult result) implements Step {}

    /** Close the connection; there is no session. */
    public record Fail(LoginException failure) implements Step {}

    /** Close the connection; the target is elsewhere. */
    public record Redirected(TargetAddress address, boolean permanent) implements Step {}

    /**
     * Who logs in, where, and how. Start from {@link #normal} or {@link #discovery}.
     *
     * @param initiatorName InitiatorName
     * @param initiatorAlias InitiatorAlias
     * @param targetName TargetName; empty for a discovery session
     * @param isid ISID
     * @param cid connection ID
     * @param offer what this end wants
     * @param credentials how this end proves itself; empty for no authentication
     * @param targetCredentials how the target must prove itself (mutual CHAP)
     * @param algorithms hash functions to offer, the preferred one first
     * @param tsih 0 for a new session, else the session to join
     * @param session parameters of the session to join; empty for a new session
     * @param limits how much the target may say
     */
    public record Settings(String initiatorName, Optional<String> initiatorAlias,
            Optional<String> targetName, Isid isid, int cid, Offer offer,
            Optional<ChapCredentials> credentials, Optional<ChapCredentials> targetCredentials,
            List<ChapAlgorithm> algorithms, int tsih, Optional<OperationalParameters> session,
            LoginLimits limits) {
        public Settings {
            algorithms = List.copyOf(algorithms);
            if (!KeyValue.isName(initiatorName) || !targetName.map(KeyValue::isName).orElse(true)) {
                throw new IllegalArgumentException("no iSCSI name: " + initiatorName + " or "
                        + targetName.orElse("none") + "; 1 to 223 bytes without blanks");
            }
            if (credentials.isPresent() && algorithms.isEmpty()) {
                throw new IllegalArgumentException("CHAP without an algorithm");
            }
            if (targetCredentials.isPresent() && credentials.isEmpty()) {
                throw new IllegalArgumentException(
                        "the target proves itself only where the initiator does: mutual CHAP needs both secrets");
            }
            if (targetCredentials.isPresent() && targetCredentials.get().secret()
                    .equals(credentials.get().secret())) {
                throw new IllegalArgumentException(
                        "mutual CHAP with one secret for both ends (RFC 7143 section 12.1.3)");
            }
            if (tsih < 0 || tsih > 0xffff || (tsih == 0) != session.isEmpty()) {
                throw new IllegalArgumentException("TSIH " + tsih
                        + (session.isEmpty() ? " without a session" : " with a session"));
            }
        }

        /** A new normal session without authentication. */
        public static Settings normal(String initiatorName, String targetName, Isid isid,
                Offer offer) {
            return new Settings(initiatorName, Optional.empty(), Optional.of(targetName), isid, 0,
                    offer, Optional.empty(), Optional.empty(), List.of(ChapAlgorithm.values()), 0,
                    Optional.empty(), LoginLimits.DEFAULT);
        }

        /** A discovery session without authentication. */
        public static Settings discovery(String initiatorName, Isid isid, Offer offer) {
            return new Settings(initiatorName, Optional.empty(), Optional.empty(), isid, 0, offer,
                    Optional.empty(), Optional.empty(), List.of(ChapAlgorithm.values()), 0,
                    Optional.empty(), LoginLimits.DEFAULT);
        }

        /** The same with CHAP. */
        public Settings withChap(ChapCredentials own) {
            return new Settings(initiatorName, initiatorAlias, targetName, isid, cid, offer,
                    Optional.of(own), targetCredentials, algorithms, tsih, session, limits);
        }

        /** The same with CHAP in both directions. */
        public Settings withMutualChap(ChapCredentials own, ChapCredentials target) {
            return new Settings(initiatorName, initiatorAlias, targetName, isid, cid, offer,
                    Optional.of(own), Optional.of(target), algorithms, tsih, session, limits);
        }

        /** The same with other algorithms. */
        public Settings withAlgorithms(List<ChapAlgorithm> offered) {
            return new Settings(initiatorName, initiatorAlias, targetName, isid, cid, offer,
                    credentials, targetCredentials, offered, tsih, session, limits);
        }

        /** The same with an alias. */
        public Settings withInitiatorAlias(String alias) {
            return new Settings(initiatorName, Optional.of(alias), targetName, isid, cid, offer,
                    credentials, targetCredentials, algorithms, tsih, session, limits);
        }

        /** One more connection of a session that is there. */
        public Settings joining(LoginResult leading, int connection) {
            return new Settings(initiatorName, initiatorAlias, targetName, leading.isid(),
                    connection,
                    offer, credentials, targetCredentials, algorithms, leading.tsih(),
                    Optional.of(leading.parameters()), limits);
        }
    }

    /** A login that has not begun. */
    public InitiatorLogin(Settings settings, ChallengeSource challenges) {}

    /** The first Login Request. */
    public LoginAsk first() {
        throw new UnsupportedOperationException();
    }

    /** Takes a Login Response. Not to be called after anything but Send. */
    public Step receive(LoginAnswer answer) {
        throw new UnsupportedOperationException();
    }
}
