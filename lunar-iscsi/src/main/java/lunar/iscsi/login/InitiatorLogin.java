package lunar.iscsi.login;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import lunar.iscsi.LoginException;
import lunar.iscsi.LoginStatus;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.pdu.Isid;
import lunar.iscsi.pdu.LoginStage;
import lunar.iscsi.text.Key;
import lunar.iscsi.text.KeyValue;
import lunar.iscsi.text.PeerText;
import lunar.iscsi.text.TargetAddress;
import lunar.iscsi.text.TextAssembler;
import lunar.iscsi.text.TextKeys;

/**
 * The initiator's side of the login phase of one connection (RFC 7143 chapter 6). {@link #first} returns the first
 * request; {@link #receive} takes each response and returns the next step. Without credentials it starts in the
 * operational stage.
 */
public final class InitiatorLogin {
    /** Next action of the caller. */
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
     * Settings of a login: identity, target and authentication. Start from {@link #normal} or {@link #discovery}.
     *
     * @param initiatorName InitiatorName
     * @param initiatorAlias InitiatorAlias
     * @param targetName TargetName; empty for a discovery session
     * @param isid ISID
     * @param cid connection ID
     * @param offer parameters that this end offers
     * @param credentials credentials of this end; empty for no authentication
     * @param targetCredentials credentials required of the target (mutual CHAP)
     * @param algorithms hash functions to offer, the preferred one first
     * @param tsih 0 for a new session, else the session to join
     * @param session parameters of the session to join; empty for a new session
     * @param limits limits of the target's responses
     * @param inStages whether a login without authentication also passes through the security stage (AuthMethod=None,
     *        RFC 7143 section 6.3.2), for targets that reinstate sessions only in that stage, such as tgtd
     */
    public record Settings(String initiatorName, Optional<String> initiatorAlias,
            Optional<String> targetName, Isid isid, int cid, Offer offer,
            Optional<ChapCredentials> credentials, Optional<ChapCredentials> targetCredentials,
            List<ChapAlgorithm> algorithms, int tsih, Optional<OperationalParameters> session,
            LoginLimits limits, boolean inStages) {
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
                        "mutual CHAP needs both secrets: give those of initiator and target");
            }
            if (targetCredentials.isPresent() && targetCredentials.get().secret()
                    .equals(credentials.get().secret())) {
                throw new IllegalArgumentException(
                        "mutual CHAP needs different secrets at both ends (RFC 7143 section 12.1.3)");
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
                    offer, Optional.empty(), Optional.empty(), ChapAlgorithm.DEFAULT_ORDER, 0,
                    Optional.empty(), LoginLimits.DEFAULT, false);
        }

        /** A discovery session without authentication. */
        public static Settings discovery(String initiatorName, Isid isid, Offer offer) {
            return new Settings(initiatorName, Optional.empty(), Optional.empty(), isid, 0, offer,
                    Optional.empty(), Optional.empty(), ChapAlgorithm.DEFAULT_ORDER, 0,
                    Optional.empty(), LoginLimits.DEFAULT, false);
        }

        /** Returns these settings with another offer. */
        public Settings withOffer(Offer other) {
            return new Settings(initiatorName, initiatorAlias, targetName, isid, cid, other,
                    credentials, targetCredentials, algorithms, tsih, session, limits, inStages);
        }

        /** Returns these settings with CHAP. */
        public Settings withChap(ChapCredentials own) {
            return new Settings(initiatorName, initiatorAlias, targetName, isid, cid, offer,
                    Optional.of(own), targetCredentials, algorithms, tsih, session, limits,
                    inStages);
        }

        /** Returns these settings with CHAP in both directions. */
        public Settings withMutualChap(ChapCredentials own, ChapCredentials target) {
            return new Settings(initiatorName, initiatorAlias, targetName, isid, cid, offer,
                    Optional.of(own), Optional.of(target), algorithms, tsih, session, limits,
                    inStages);
        }

        /** Returns these settings with other algorithms. */
        public Settings withAlgorithms(List<ChapAlgorithm> offered) {
            return new Settings(initiatorName, initiatorAlias, targetName, isid, cid, offer,
                    credentials, targetCredentials, offered, tsih, session, limits,
                    inStages);
        }

        /** Returns these settings with an alias. */
        public Settings withInitiatorAlias(String alias) {
            return new Settings(initiatorName, Optional.of(alias), targetName, isid, cid, offer,
                    credentials, targetCredentials, algorithms, tsih, session, limits,
                    inStages);
        }

        /** Returns these settings, with a login that passes the security stage in any case. */
        public Settings withAllStages() {
            return new Settings(initiatorName, initiatorAlias, targetName, isid, cid, offer,
                    credentials, targetCredentials, algorithms, tsih, session, limits, true);
        }

        /**
         * Returns settings for another connection of a session; it reinstates no session, so it skips the security
         * stage.
         */
        public Settings joining(LoginResult leading, int connection) {
            return new Settings(initiatorName, initiatorAlias, targetName, leading.isid(),
                    connection,
                    offer, credentials, targetCredentials, algorithms, leading.tsih(),
                    Optional.of(leading.parameters()), limits, false);
        }
    }

    private static final int VERSION = 0;
    private static final String NO_AUTHENTICATION = "None";

    /** Longest data segment in either direction until the login is over (section 13.12's default). */
    private static final int MAX_SEGMENT_BYTES = OperationalParameters.DEFAULT
            .maxSendDataSegmentLength();

    private final Settings settings;
    private final SessionType sessionType;
    private final Optional<InitiatorChap> chap;
    private final Negotiation negotiation;
    private final TextAssembler texts;
    private final Deque<MemorySegment> unsent = new ArrayDeque<>();
    private LoginStage stage;
    private boolean asked;
    private int turns;
    private OptionalInt portalGroupTag = OptionalInt.empty();
    private Optional<String> targetAlias = Optional.empty();

    /** A login that has not begun. */
    public InitiatorLogin(Settings settings, ChallengeSource challenges) {
        this.settings = settings;
        this.sessionType = settings.targetName().isPresent()
                ? SessionType.NORMAL
                : SessionType.DISCOVERY;
        this.chap = settings.credentials().map(own -> new InitiatorChap(own,
                settings.targetCredentials(), settings.algorithms(), challenges));
        this.stage = chap.isPresent() || settings.inStages()
                ? LoginStage.SECURITY
                : LoginStage.OPERATIONAL;
        this.negotiation = new Negotiation(Key.Sender.INITIATOR, settings.offer(), sessionType,
                settings.session());
        this.texts = new TextAssembler(settings.limits().textBytes(), settings.limits().keys());
    }

    /** The first Login Request. */
    public LoginAsk first() {
        var pairs = new ArrayList<KeyValue>();
        pairs.add(new KeyValue(Key.INITIATOR_NAME.text(), settings.initiatorName()));
        settings.initiatorAlias()
                .ifPresent(alias -> pairs.add(new KeyValue(Key.INITIATOR_ALIAS.text(), alias)));
        settings.targetName()
                .ifPresent(name -> pairs.add(new KeyValue(Key.TARGET_NAME.text(), name)));
        pairs.add(new KeyValue(Key.SESSION_TYPE.text(), sessionType.text()));
        if (chap.isPresent()) {
            pairs.add(chap.get().method());
        } else if (stage == LoginStage.SECURITY) {
            pairs.add(new KeyValue(Key.AUTH_METHOD.text(), NO_AUTHENTICATION));
        } else {
            pairs.addAll(negotiation.proposals());
        }
        return say(pairs, true);
    }

    /** Takes a Login Response. Not to be called after anything but Send. */
    public Step receive(LoginAnswer answer) {
        try {
            return step(answer);
        } catch (ProtocolException e) {
            return new Fail(new LoginException("login to " + peer() + ": " + e.getMessage(), 0,
                    stage == LoginStage.SECURITY && chap.isPresent()
                            ? LoginStatus.AUTHENTICATION_FAILURE.detail()
                            : 0));
        }
    }

    private Step step(LoginAnswer answer) throws ProtocolException {
        if (answer.statusClass() != 0) {
            return refused(answer);
        }
        check(answer);
        if (!unsent.isEmpty()) {
            if (answer.more() || answer.transit() || answer.text().byteSize() > 0) {
                throw new ProtocolException(
                        "text in the middle of the initiator's text (RFC 7143 section 11.12.2)");
            }
            return new Send(next());
        }
        var complete = texts.add(answer.text(), answer.more());
        if (complete.isEmpty()) {
            return new Send(say(List.of(), asked));
        }
        var keys = complete.get();
        texts.refuseRepeated(keys);
        var pairs = introduce(keys);
        return stage == LoginStage.SECURITY ? secure(answer, keys, pairs) : operate(answer, pairs);
    }

    /** The rules of the header. */
    private void check(LoginAnswer answer) throws ProtocolException {
        if (++turns > settings.limits().turns()) {
            throw new ProtocolException(
                    "more than " + settings.limits().turns() + " responses in one login");
        }
        if (answer.versionActive() != VERSION) {
            throw new ProtocolException(
                    "the target selects protocol version " + answer.versionActive());
        }
        if (answer.stage() != stage) {
            throw new ProtocolException("a response of stage " + answer.stage() + " in stage "
                    + stage + " (RFC 7143 section 11.13.3)");
        }
        boolean granted = answer.transit();
        if (granted && (answer.more() || !asked || answer.nextStage() != nextStage())) {
            throw new ProtocolException("the target transits to " + answer.nextStage()
                    + ", which was not requested (RFC 7143 section 11.13.3)");
        }
    }

    /** Processes the target's declarations about itself; returns the other pairs. */
    private List<KeyValue> introduce(TextKeys keys) throws ProtocolException {
        var others = new ArrayList<KeyValue>();
        for (var pair : keys.pairs()) {
            switch (Key.of(pair.key()).orElse(null)) {
                case PORTAL_GROUP_TAG -> {
                    if (!Key.PORTAL_GROUP_TAG.admits(pair.number())) {
                        throw new ProtocolException(
                                pair + " is out of range (RFC 7143 section 13.9)");
                    }
                    portalGroupTag = OptionalInt.of((int) pair.number());
                }
                case TARGET_ALIAS -> targetAlias = Optional.of(pair.value());
                case TARGET_ADDRESS -> {
                } // means something in a redirection only
                case null, default -> others.add(pair);
            }
        }
        return others;
    }

    private Step secure(LoginAnswer answer, TextKeys keys, List<KeyValue> pairs)
            throws ProtocolException {
        var others = new ArrayList<KeyValue>();
        for (var pair : pairs) {
            var use = Key.of(pair.key()).map(Key::use).orElse(Key.Use.ALL);
            if (use == Key.Use.ALL) {
                others.add(pair);
            } else if (use != Key.Use.SECURITY) {
                throw new ProtocolException(
                        pair + " in the security stage (RFC 7143 section 6.3.2)");
            }
        }
        var say = new ArrayList<KeyValue>();
        if (chap.isPresent()) {
            say.addAll(chap.get().receive(keys));
        } else {
            requireNoAuthentication(keys);
        }
        say.addAll(negotiation.receive(others));
        if (!answer.transit()) {
            return new Send(
                    say(say, chap.map(InitiatorChap::isLastRequest).orElse(true)));
        }
        if (!chap.map(InitiatorChap::isDone).orElse(true)) {
            throw new ProtocolException(
                    "the target ends the security stage before authentication is complete (RFC 7143 section 12.1)");
        }
        stage = LoginStage.OPERATIONAL;
        say.addAll(negotiation.proposals());
        return new Send(say(say, true));
    }

    /** Whether the target was just asked to do without authentication; LIO closes the connection if it will not. */
    public boolean isWithoutAuthentication() {
        return stage == LoginStage.SECURITY && chap.isEmpty();
    }

    private static void requireNoAuthentication(TextKeys keys) throws ProtocolException {
        String method = keys.first(Key.AUTH_METHOD.text()).map(KeyValue::value)
                .orElse(NO_AUTHENTICATION);
        if (!method.equals(NO_AUTHENTICATION)) {
            throw new ProtocolException("the target answers AuthMethod=None with "
                    + PeerText.printable(method)
                    + "; it may require CHAP: specify a user and a secret");
        }
    }

    private Step operate(LoginAnswer answer, List<KeyValue> pairs) throws ProtocolException {
        var say = negotiation.receive(pairs);
        if (!answer.transit()) {
            return new Send(say(say, true));
        }
        if (say.stream().anyMatch(InitiatorLogin::isNeeded)) {
            throw new ProtocolException("the target ends the login with an unanswered proposal: "
                    + say.getFirst().key() + " (RFC 7143 section 6.3)");
        }
        negotiation.finish();
        int tsih = answer.tsih();
        // Without a TSIH no further connection can join, which is the only effect; some targets return none.
        boolean mayLackHandle = settings.tsih() == 0 && settings.credentials().isEmpty();
        if ((tsih == 0 && !mayLackHandle)
                || (settings.tsih() != 0 && tsih != settings.tsih())) {
            throw new ProtocolException("the target ends the login with TSIH " + tsih
                    + " (RFC 7143 section 11.13.4)");
        }
        return new Complete(new LoginResult(negotiation.parameters(), settings.initiatorName(),
                settings.initiatorAlias(), sessionType, settings.targetName(), targetAlias,
                portalGroupTag, settings.isid(), tsih, settings.cid(),
                chap.flatMap(InitiatorChap::provedTarget)));
    }

    /** Whether a response must still be sent to the target. */
    private static boolean isNeeded(KeyValue answer) {
        return !answer.declines() && !Key.of(answer.key())
                .map(key -> key.rule() instanceof Key.Rule.Obsolete).orElse(true);
    }

    private Step refused(LoginAnswer answer) throws ProtocolException {
        int statusClass = answer.statusClass();
        int detail = answer.statusDetail();
        if (statusClass == LoginStatus.MOVED_PERMANENTLY.statusClass()) {
            var text = TextKeys.parse(answer.text(), settings.limits().keys());
            var address = text.first(Key.TARGET_ADDRESS.text());
            if (address.isEmpty()) {
                throw new ProtocolException("the target has moved, but gives no new address");
            }
            return new Redirected(TargetAddress.parse(address.get().value()),
                    detail == LoginStatus.MOVED_PERMANENTLY.detail());
        }
        LoginStatus status = LoginStatus.of(statusClass, detail).orElse(null);
        boolean authentication = status == LoginStatus.AUTHENTICATION_FAILURE
                || (status == LoginStatus.INITIATOR_ERROR && stage == LoginStage.SECURITY);
        String hint = !authentication
                ? ""
                : "; " + chap.map(InitiatorChap::hint)
                        .orElse("it may require CHAP: specify a user and a secret");
        return new Fail(new LoginException(
                "login to " + peer() + " rejected: " + LoginStatus.describe(statusClass, detail)
                        + String.format(" [%02x%02x]", statusClass, detail) + hint,
                statusClass, detail));
    }

    private LoginAsk say(List<KeyValue> pairs, boolean transit) {
        asked = transit;
        unsent.addAll(new TextKeys(pairs).split(MAX_SEGMENT_BYTES));
        return next();
    }

    private LoginAsk next() {
        var text = unsent.remove();
        boolean more = !unsent.isEmpty();
        return new LoginAsk(asked && !more, more, stage, nextStage(), VERSION, VERSION,
                settings.isid(), settings.tsih(), settings.cid(), text);
    }

    private LoginStage nextStage() {
        return stage == LoginStage.SECURITY ? LoginStage.OPERATIONAL : LoginStage.FULL_FEATURE;
    }

    private String peer() { return settings.targetName().orElse("the discovery portal"); }
}
