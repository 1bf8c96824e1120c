package lunar.iscsi.login;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.text.Key;
import lunar.iscsi.text.KeyValue;
import lunar.iscsi.text.PeerText;
import lunar.iscsi.text.TextKeys;
import org.jspecify.annotations.Nullable;

/** CHAP at the initiator (RFC 7143 section 12.1.3), from AuthMethod to the authentication of the target. */
final class InitiatorChap {
    private enum State {
        METHOD_EXPECTED, CHALLENGE_EXPECTED, PROOF_EXPECTED, DONE
    }

    private final ChapCredentials own;
    private final Optional<ChapCredentials> target;
    /** Algorithms in the order of preference, those that this Java has not left out. */
    private final List<ChapAlgorithm> algorithms;
    private final List<ChapAlgorithm> missing;
    private final ChallengeSource challenges;
    private State state = State.METHOD_EXPECTED;
    private @Nullable ChapAlgorithm algorithm;
    private int identifier;
    private byte[] challenge = {};

    InitiatorChap(ChapCredentials own, Optional<ChapCredentials> target,
            List<ChapAlgorithm> algorithms, ChallengeSource challenges) {
        this.own = own;
        this.target = target;
        this.algorithms = algorithms.stream().filter(ChapAlgorithm::isAvailable).toList();
        this.missing = algorithms.stream().filter(each -> !each.isAvailable()).toList();
        this.challenges = challenges;
    }

    /** AuthMethod: without authentication only where the target need not prove itself. */
    KeyValue method() {
        return KeyValue.of(Key.AUTH_METHOD.text(),
                target.isPresent() ? List.of("CHAP") : List.of("CHAP", "None"));
    }

    /** Whether the initiator is ready to leave the security stage. */
    boolean isDone() {
        return state == State.DONE;
    }

    /** Whether the next request is the last one: it asks for the transition. */
    boolean isLastRequest() {
        return state == State.PROOF_EXPECTED || state == State.DONE;
    }

    /** Returns a hint for the user if the target refuses the login in this state. */
    String hint() {
        return switch (state) {
            case CHALLENGE_EXPECTED -> noneAccepted();
            case METHOD_EXPECTED, PROOF_EXPECTED, DONE -> "check the CHAP user and secret"
                    + (algorithm == ChapAlgorithm.SHA256
                            ? ", or offer other algorithms: older targets confuse sha-256 with sha-1"
                            : "");
        };
    }

    private String noneAccepted() {
        return "it may accept none of the CHAP algorithms offered: "
                + ChapAlgorithm.names(algorithms)
                + (missing.isEmpty()
                        ? ""
                        : " (this Java does not provide " + ChapAlgorithm.names(missing) + ")");
    }

    /** The name under which the target proved itself. */
    Optional<String> provedTarget() {
        return isDone() && challenge.length > 0
                ? target.map(ChapCredentials::name)
                : Optional.empty();
    }

    /** Processes the keys of one response and returns those of the next request. */
    List<KeyValue> receive(TextKeys keys) throws ProtocolException {
        return switch (state) {
            case METHOD_EXPECTED -> chooseMethod(require(keys, Key.AUTH_METHOD).value());
            case CHALLENGE_EXPECTED -> respond(keys);
            case PROOF_EXPECTED -> {
                verify(keys);
                yield List.of();
            }
            case DONE -> List.of();
        };
    }

    private List<KeyValue> chooseMethod(String method) throws ProtocolException {
        if (method.equals("None") && target.isEmpty()) {
            state = State.DONE;
            return List.of();
        }
        if (!method.equals("CHAP")) {
            throw new ProtocolException("the target selects AuthMethod="
                    + PeerText.printable(method) + ", but this end offers " + method());
        }
        if (algorithms.isEmpty()) {
            throw new ProtocolException("this Java provides none of the CHAP algorithms to offer: "
                    + ChapAlgorithm.names(missing));
        }
        state = State.CHALLENGE_EXPECTED;
        return List.of(KeyValue.of(Key.CHAP_A.text(),
                algorithms.stream().map(each -> Integer.toString(each.number())).toList()));
    }

    private List<KeyValue> respond(TextKeys keys) throws ProtocolException {
        var chosen = require(keys, Key.CHAP_A);
        if (chosen.declines()) {
            throw new ProtocolException("the target answers " + chosen + "; " + noneAccepted());
        }
        var known = ChapAlgorithm.of(chosen.number());
        if (known.isEmpty() || !algorithms.contains(known.get())) {
            throw new ProtocolException("the target chose " + chosen + ", which was not offered");
        }
        var agreed = known.get();
        algorithm = agreed;
        long theirIdentifier = require(keys, Key.CHAP_I).number();
        byte[] theirChallenge = require(keys, Key.CHAP_C).bytes();
        if (theirIdentifier > 0xff) {
            throw new ProtocolException("CHAP_I=" + theirIdentifier + " is more than a byte");
        }
        var answer = new ArrayList<KeyValue>();
        answer.add(new KeyValue(Key.CHAP_N.text(), own.name()));
        answer.add(KeyValue.binary(Key.CHAP_R.text(),
                agreed.response((int) theirIdentifier, own.secret(), theirChallenge)));
        if (target.isPresent()) {
            identifier = challenges.bytes(1)[0] & 0xff;
            challenge = challenges.bytes(TargetChap.CHALLENGE_BYTES);
            if (Arrays.equals(challenge, theirChallenge)) { // section 12.1.3: never reuse the other's
                throw new ProtocolException(
                        "the target's challenge is the one this end would send");
            }
            answer.add(KeyValue.of(Key.CHAP_I.text(), identifier));
            answer.add(KeyValue.binary(Key.CHAP_C.text(), challenge));
        }
        state = State.PROOF_EXPECTED;
        return answer;
    }

    private void verify(TextKeys keys) throws ProtocolException {
        if (target.isPresent()) {
            String name = require(keys, Key.CHAP_N).value();
            byte[] response = require(keys, Key.CHAP_R).bytes();
            boolean right = algorithm != null && name.equals(target.get().name())
                    && algorithm.verify(identifier, target.get().secret(), challenge, response);
            if (!right) {
                throw new ProtocolException(
                        "the target failed to authenticate itself: wrong CHAP name or secret of "
                                + PeerText.printable(name));
            }
        }
        state = State.DONE;
    }

    private static KeyValue require(TextKeys keys, Key key) throws ProtocolException {
        return keys.first(key.text()).orElseThrow(() -> new ProtocolException(
                "the target did not send " + key.text() + " (RFC 7143 section 12.1)"));
    }
}
