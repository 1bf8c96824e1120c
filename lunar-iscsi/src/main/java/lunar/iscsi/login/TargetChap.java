package lunar.iscsi.login;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import lunar.iscsi.LoginException;
import lunar.iscsi.LoginStatus;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.text.Key;
import lunar.iscsi.text.KeyValue;
import lunar.iscsi.text.PeerText;
import lunar.iscsi.text.TextKeys;
import org.jspecify.annotations.Nullable;

/**
 * CHAP at the target (RFC 7143 section 12.1.3): the initiator names algorithms, the target chooses one and
 * challenges, the initiator responds and may challenge back.
 */
final class TargetChap {
    /** Longer than any hash accepted, so that a challenge is never guessed. */
    static final int CHALLENGE_BYTES = 32;

    private static final Secret NOBODY = Secret.of("nobody");

    private enum State {
        ALGORITHMS_EXPECTED, RESPONSE_EXPECTED, DONE
    }

    private final ChapPolicy policy;
    private final ChallengeSource challenges;
    private State state = State.ALGORITHMS_EXPECTED;
    private @Nullable ChapAlgorithm algorithm;
    private int identifier;
    private byte[] challenge = {};
    private Optional<String> user = Optional.empty();

    TargetChap(ChapPolicy policy, ChallengeSource challenges) {
        this.policy = policy;
        this.challenges = challenges;
    }

    /** The CHAP_N that proved itself. */
    Optional<String> user() { return user; }

    boolean isDone() { return state == State.DONE; }

    /** Processes the CHAP keys of one request and returns those of the response. */
    List<KeyValue> receive(TextKeys keys) throws ProtocolException, LoginException {
        return switch (state) {
            case ALGORITHMS_EXPECTED -> challenge(keys);
            case RESPONSE_EXPECTED -> verify(keys);
            case DONE -> {
                if (keys.pairs().stream().anyMatch(pair -> pair.key().startsWith("CHAP_"))) {
                    throw failure("CHAP keys after the end of authentication");
                }
                yield List.of();
            }
        };
    }

    private List<KeyValue> challenge(TextKeys keys) throws ProtocolException, LoginException {
        var offered = require(keys, Key.CHAP_A);
        for (String each : offered.list()) {
            var known = ChapAlgorithm.of(new KeyValue(offered.key(), each).number());
            if (known.isPresent() && policy.algorithms().contains(known.get())
                    && known.get().isAvailable()) {
                algorithm = known.get();
                identifier = challenges.bytes(1)[0] & 0xff;
                challenge = challenges.bytes(CHALLENGE_BYTES);
                state = State.RESPONSE_EXPECTED;
                return List.of(KeyValue.of(Key.CHAP_A.text(), known.get().number()),
                        KeyValue.of(Key.CHAP_I.text(), identifier),
                        KeyValue.binary(Key.CHAP_C.text(), challenge));
            }
        }
        throw failure("none of the offered algorithms is accepted: " + offered + "; accepted: "
                + ChapAlgorithm.names(policy.algorithms().stream()
                        .filter(ChapAlgorithm::isAvailable).toList()));
    }

    private List<KeyValue> verify(TextKeys keys) throws ProtocolException, LoginException {
        String name = require(keys, Key.CHAP_N).value();
        byte[] response = require(keys, Key.CHAP_R).bytes();
        var secret = policy.secrets().apply(name);
        // Take as long for an unknown user as for a wrong secret.
        boolean right = algorithm != null
                && algorithm.verify(identifier, secret.orElse(NOBODY), challenge, response);
        if (algorithm == null || secret.isEmpty() || !right) {
            // One line for both reasons: a reader of the log must not learn which names exist.
            throw failure("wrong name or secret of CHAP user " + PeerText.printable(name));
        }
        var answer = new ArrayList<KeyValue>();
        boolean mutual = keys.first(Key.CHAP_I.text()).isPresent()
                || keys.first(Key.CHAP_C.text()).isPresent();
        if (mutual) {
            answer.addAll(prove(keys, name, secret.get(), algorithm));
        }
        user = Optional.of(name);
        state = State.DONE;
        return answer;
    }

    /** The target's own proof. */
    private List<KeyValue> prove(TextKeys keys, String name, Secret secret, ChapAlgorithm chosen)
            throws ProtocolException, LoginException {
        long theirIdentifier = require(keys, Key.CHAP_I).number();
        byte[] theirChallenge = require(keys, Key.CHAP_C).bytes();
        if (theirIdentifier > 0xff) {
            throw failure("CHAP_I=" + theirIdentifier + " is more than a byte");
        }
        // Section 12.1.3: an initiator that returns our challenge wants us to compute the response for it.
        if (Arrays.equals(theirChallenge, challenge)) {
            throw failure("CHAP user " + PeerText.printable(name)
                    + " reflects the target's challenge (RFC 7143 section 12.1.3)");
        }
        if (policy.own().isEmpty()) {
            throw failure("CHAP user " + PeerText.printable(name)
                    + " requests mutual CHAP, but the target has no credentials for it");
        }
        var own = policy.own().get();
        if (own.secret().equals(secret)) {
            throw failure("CHAP user " + PeerText.printable(name)
                    + " and the target must have different secrets (RFC 7143 section 12.1.3)");
        }
        byte[] response = chosen.response((int) theirIdentifier, own.secret(), theirChallenge);
        return List.of(new KeyValue(Key.CHAP_N.text(), own.name()),
                KeyValue.binary(Key.CHAP_R.text(), response));
    }

    private static KeyValue require(TextKeys keys, Key key) throws LoginException {
        return keys.first(key.text()).orElseThrow(() -> failure(key.text() + " is missing"));
    }

    private static LoginException failure(String reason) {
        var status = LoginStatus.AUTHENTICATION_FAILURE;
        return new LoginException(reason, status.statusClass(), status.detail());
    }
}
