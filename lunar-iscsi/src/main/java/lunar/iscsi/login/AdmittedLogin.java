package lunar.iscsi.login;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import lunar.iscsi.LoginException;
import lunar.iscsi.LoginStatus;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.login.LoginPolicy.Admission;
import lunar.iscsi.login.LoginPolicy.Applicant;
import lunar.iscsi.pdu.LoginStage;
import lunar.iscsi.text.Key;
import lunar.iscsi.text.KeyValue;
import lunar.iscsi.text.PeerText;
import lunar.iscsi.text.TextKeys;

/** A login at the target after the policy has admitted the initiator: handles its keys in each stage. */
final class AdmittedLogin {
    /** Keys that identify the initiator; read once, by {@link #applicant}. */
    private static final Set<Key> NAMES = EnumSet.of(Key.INITIATOR_NAME, Key.TARGET_NAME,
            Key.SESSION_TYPE);

    private final Applicant applicant;
    private final Admission.Accept terms;
    private final Negotiation negotiation;
    private final Optional<TargetChap> chap;
    private boolean methodAgreed;
    private boolean declared;
    private boolean methodTooLate;

    AdmittedLogin(Applicant applicant, Admission.Accept terms, ChallengeSource challenges) {
        this.applicant = applicant;
        this.terms = terms;
        this.negotiation = new Negotiation(Key.Sender.TARGET, terms.offer(),
                applicant.sessionType(),
                terms.session());
        this.chap = terms.chap().map(policy -> new TargetChap(policy, challenges));
    }

    /** Returns the identity that the initiator claims in the keys of the first request. */
    static Applicant applicant(LoginAsk ask, TextKeys keys)
            throws ProtocolException, LoginException {
        var initiator = name(keys, Key.INITIATOR_NAME);
        if (initiator.isEmpty()) {
            throw refusal(LoginStatus.MISSING_PARAMETER, "no InitiatorName in the first request");
        }
        var type = sessionType(keys);
        var target = name(keys, Key.TARGET_NAME);
        if (type == SessionType.NORMAL && target.isEmpty()) {
            throw refusal(LoginStatus.MISSING_PARAMETER, "no TargetName in the first request of "
                    + PeerText.printable(initiator.get()));
        }
        var alias = keys.first(Key.INITIATOR_ALIAS.text()).map(KeyValue::value);
        return new Applicant(initiator.get(), alias, type, target, ask.isid(), ask.tsih(),
                ask.cid());
    }

    /** Refuses names that come after the first request. */
    static void refuseNames(TextKeys keys) throws ProtocolException {
        for (Key key : NAMES) {
            if (keys.first(key.text()).isPresent()) {
                throw new ProtocolException(
                        key.text() + " after the first request (RFC 7143 section 6.3)");
            }
        }
    }

    static LoginException refusal(LoginStatus status, String reason) {
        return new LoginException(reason, status.statusClass(), status.detail());
    }

    /** Returns the keys that the target declares in its first complete response (section 13.9). */
    List<KeyValue> introduction() {
        var pairs = new ArrayList<KeyValue>();
        if (applicant.sessionType() == SessionType.NORMAL) {
            pairs.add(KeyValue.of(Key.PORTAL_GROUP_TAG.text(), terms.portalGroupTag()));
        }
        terms.targetAlias()
                .ifPresent(alias -> pairs.add(new KeyValue(Key.TARGET_ALIAS.text(), alias)));
        return pairs;
    }

    /** Processes the keys of one text and returns the responses. */
    List<KeyValue> receive(LoginStage stage, boolean transit, TextKeys keys)
            throws ProtocolException, LoginException {
        return stage == LoginStage.SECURITY ? secure(transit, keys) : operate(keys);
    }

    /** Whether a stage may end. */
    boolean isReady(LoginStage stage) {
        return stage != LoginStage.SECURITY || chap.map(TargetChap::isDone).orElse(true);
    }

    /** Ends the negotiation. */
    LoginResult result() throws ProtocolException {
        negotiation.finish();
        return new LoginResult(negotiation.parameters(), applicant.initiatorName(),
                applicant.initiatorAlias(), applicant.sessionType(), applicant.targetName(),
                terms.targetAlias(),
                applicant.sessionType() == SessionType.NORMAL
                        ? OptionalInt.of(terms.portalGroupTag())
                        : OptionalInt.empty(),
                applicant.isid(), terms.tsih(), applicant.cid(), chap.flatMap(TargetChap::user));
    }

    private List<KeyValue> secure(boolean transit, TextKeys keys)
            throws ProtocolException, LoginException {
        var operational = new ArrayList<KeyValue>();
        boolean hasChap = false;
        for (var pair : others(keys.pairs())) {
            var use = Key.of(pair.key()).map(Key::use).orElse(Key.Use.ALL);
            if (use == Key.Use.ALL) {
                operational.add(pair);
            } else if (use != Key.Use.SECURITY) {
                throw new ProtocolException(
                        pair + " in the security stage (RFC 7143 section 6.3.2)");
            }
            hasChap |= pair.key().startsWith("CHAP_");
        }
        var answers = new ArrayList<KeyValue>();
        var method = keys.first(Key.AUTH_METHOD.text());
        if (method.isPresent()) {
            answers.add(agree(method.get()));
        } else if (chap.isPresent() && methodAgreed) {
            answers.addAll(chap.get().receive(keys));
        } else if (chap.isPresent() && transit) {
            throw skipped();
        }
        if (hasChap && (method.isPresent() || !methodAgreed || chap.isEmpty())) {
            throw new ProtocolException(
                    "CHAP before AuthMethod=CHAP is agreed (RFC 7143 section 12.1)");
        }
        methodAgreed |= method.isPresent();
        answers.addAll(negotiation.receive(operational));
        return answers;
    }

    private KeyValue agree(KeyValue method) throws ProtocolException, LoginException {
        String wanted = chap.isPresent() ? "CHAP" : "None";
        if (!method.list().contains(wanted)) {
            throw refusal(LoginStatus.AUTHENTICATION_FAILURE,
                    PeerText.printable(applicant.initiatorName()) + " offers " + method
                            + ", but the target requires " + wanted);
        }
        return new KeyValue(Key.AUTH_METHOD.text(), wanted);
    }

    private List<KeyValue> operate(TextKeys keys) throws ProtocolException, LoginException {
        if (!isReady(LoginStage.SECURITY)) {
            throw skipped();
        }
        var answers = new ArrayList<KeyValue>();
        var operational = new ArrayList<KeyValue>();
        for (var pair : others(keys.pairs())) {
            if (pair.key().equals(Key.AUTH_METHOD.text()) && chap.isEmpty() && !methodAgreed) {
                // It belongs into the security stage; some initiators name the method in the only stage they have.
                answers.add(agree(pair));
                methodAgreed = true;
                methodTooLate = true;
            } else {
                operational.add(pair);
            }
        }
        answers.addAll(negotiation.receive(operational));
        if (!declared) {
            declared = true;
            answers.addAll(negotiation.declarations());
        }
        return answers;
    }

    /**
     * Whether AuthMethod was sent in the operational stage, which is tolerated because no authentication is required.
     */
    boolean isMethodTooLate() { return methodTooLate; }

    private LoginException skipped() {
        return refusal(LoginStatus.AUTHENTICATION_FAILURE,
                PeerText.printable(applicant.initiatorName())
                        + " skips authentication, but the target requires CHAP");
    }

    /** Returns the pairs that do not identify the initiator. */
    private static List<KeyValue> others(List<KeyValue> pairs) {
        return pairs.stream().filter(pair -> {
            var key = Key.of(pair.key());
            return key.isEmpty()
                    || (!NAMES.contains(key.get()) && key.get() != Key.INITIATOR_ALIAS);
        }).toList();
    }

    /** A name in the form in which names are compared, in lower case (RFC 7143 section 4.2.7.2, RFC 3722). */
    private static Optional<String> name(TextKeys keys, Key key) throws ProtocolException {
        var pair = keys.first(key.text());
        var normal = pair.map(given -> given.value().toLowerCase(Locale.ROOT));
        if (normal.isPresent() && !KeyValue.isName(normal.get())) {
            throw new ProtocolException(
                    pair.get() + " is no iSCSI name (RFC 7143 section 4.2.7)");
        }
        return normal;
    }

    private static SessionType sessionType(TextKeys keys) throws LoginException {
        var pair = keys.first(Key.SESSION_TYPE.text());
        if (pair.isEmpty()) {
            return SessionType.NORMAL;
        }
        for (var type : SessionType.values()) {
            if (type.text().equals(pair.get().value())) {
                return type;
            }
        }
        throw refusal(LoginStatus.SESSION_TYPE_NOT_SUPPORTED, pair.get() + " is not supported");
    }
}
