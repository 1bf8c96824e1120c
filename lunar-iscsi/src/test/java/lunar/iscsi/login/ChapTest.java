package lunar.iscsi.login;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import lunar.iscsi.LoginException;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.text.KeyValue;
import lunar.iscsi.text.TextKeys;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests CHAP responses. The vectors were computed by Python's hashlib over one byte 2a, "secret-of-reader" and the
 * bytes 00 to 17.
 */
class ChapTest {
    private static final Secret SECRET = Secret.of("secret-of-reader");
    private static final ChapCredentials USER = new ChapCredentials("reader", SECRET);
    private static final ChapCredentials TARGET = new ChapCredentials("writer",
            Secret.of("secret-of-target"));

    @ParameterizedTest
    @CsvSource({"5,9fd3b29125605526f0b2e79321d77b78", "6,2dba410170471072e8eb8e7cb17d7ef759025e21",
            "7,463950e5c67f8d705ead464699af89a17f074448f2c6838d1379c9e586f792f5",
            "8,c00b4807912473caae9e73d3398765ad914faefb6092256af27da0cec0a3f166"})
    void shouldComputeKnownResponses(int number, String expected) {
        byte[] challenge = new byte[24];
        for (int i = 0; i < challenge.length; i++) {
            challenge[i] = (byte) i;
        }
        var algorithm = ChapAlgorithm.of(number).orElseThrow();
        byte[] response = algorithm.response(0x2a, SECRET, challenge);
        assertThat(HexFormat.of().formatHex(response)).isEqualTo(expected);
        assertThat(response).hasSize(algorithm.responseBytes());
        assertThat(algorithm.verify(0x2a, SECRET, challenge, response)).isTrue();
        response[3] ^= 1;
        assertThat(algorithm.verify(0x2a, SECRET, challenge, response)).isFalse();
        assertThat(algorithm.verify(0x2a, SECRET, challenge, new byte[0])).isFalse();
    }

    @Test
    void shouldNotShowSecrets() {
        assertThat(USER.toString()).doesNotContain("secret-of-reader");
        assertThat(SECRET).hasToString("Secret[hidden]").isEqualTo(Secret.of("secret-of-reader"))
                .isNotEqualTo(TARGET.secret());
        assertThat(Secret.of("short").isShort()).isTrue();
        assertThat(SECRET.isShort()).isFalse();
        assertThatThrownBy(() -> Secret.of("")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldAcceptTheInitiatorsFirstAlgorithmThatIsAccepted() throws Exception {
        var policy = ChapPolicy.of(USER)
                .withAlgorithms(List.of(ChapAlgorithm.SHA256, ChapAlgorithm.MD5));
        var chap = new TargetChap(policy, source());
        var answer = new TextKeys(chap.receive(keys("CHAP_A", "9,6,5,7")));
        assertThat(answer.first("CHAP_A").orElseThrow().value()).isEqualTo("5");
        assertThat(answer.first("CHAP_C").orElseThrow().bytes()).hasSize(32);
    }

    @Test
    void shouldRejectAlgorithmsThatAreNotAccepted() {
        var policy = ChapPolicy.of(USER).withAlgorithms(List.of(ChapAlgorithm.SHA3_256));
        var chap = new TargetChap(policy, source());
        assertAuthenticationFailure(() -> chap.receive(keys("CHAP_A", "5,6,7")), "CHAP_A=5,6,7");
    }

    @Test
    void shouldRejectUnknownUsersAndWrongSecretsAlike() throws Exception {
        for (String name : List.of("reader", "nobody")) {
            var chap = challenged(ChapPolicy.of(USER));
            assertAuthenticationFailure(
                    () -> chap.receive(TextKeys.of(new KeyValue("CHAP_N", name),
                            KeyValue.binary("CHAP_R", new byte[16]))),
                    "wrong name or secret of CHAP user " + name);
        }
    }

    @Test
    void shouldRejectItsOwnChallengeSentBack() throws Exception {
        var chap = challenged(ChapPolicy.of(USER).withOwn(TARGET));
        var challenge = KeyValue.binary("CHAP_C", source().bytes(32));
        assertAuthenticationFailure(() -> chap.receive(mutual(challenge)),
                "the target's challenge");
    }

    @Test
    void shouldRejectMutualAuthenticationWithoutCredentials() throws Exception {
        var chap = challenged(ChapPolicy.of(USER));
        assertAuthenticationFailure(
                () -> chap.receive(mutual(KeyValue.binary("CHAP_C", new byte[16]))),
                "no credentials");
    }

    @Test
    void shouldRejectOneSecretForBothDirections() throws Exception {
        var chap = challenged(
                ChapPolicy.of(USER).withOwn(new ChapCredentials("writer", SECRET)));
        assertAuthenticationFailure(
                () -> chap.receive(mutual(KeyValue.binary("CHAP_C", new byte[16]))),
                "different secrets");
    }

    @Test
    void shouldProveItselfWhenAsked() throws Exception {
        var chap = challenged(ChapPolicy.of(USER).withOwn(TARGET));
        byte[] theirs = {7, 7, 7};
        var answer = new TextKeys(chap.receive(mutual(KeyValue.binary("CHAP_C", theirs))));
        assertThat(answer.first("CHAP_N").orElseThrow().value()).isEqualTo("writer");
        assertThat(answer.first("CHAP_R").orElseThrow().bytes())
                .isEqualTo(ChapAlgorithm.MD5.response(9, TARGET.secret(), theirs));
        assertThat(chap.isDone()).isTrue();
        assertThat(chap.user()).contains("reader");
    }

    @Test
    void shouldRejectChallengesThatAreTooLong() throws Exception {
        var chap = challenged(ChapPolicy.of(USER).withOwn(TARGET));
        var tooLong = KeyValue.binary("CHAP_C", new byte[1025]);
        assertThatThrownBy(() -> chap.receive(mutual(tooLong)))
                .isInstanceOf(ProtocolException.class);
    }

    @Test
    void shouldRejectResponsesWithoutName() throws Exception {
        var chap = challenged(ChapPolicy.of(USER));
        assertAuthenticationFailure(() -> chap.receive(keys("CHAP_R", "0x00")),
                "CHAP_N is missing");
    }

    @Test
    void shouldNotLogInToTargetsThatDoNotProveThemselves() throws Exception {
        var chap = new InitiatorChap(USER, Optional.of(TARGET), List.of(ChapAlgorithm.MD5),
                source());
        chap.receive(keys("AuthMethod", "CHAP"));
        chap.receive(TextKeys.of(new KeyValue("CHAP_A", "5"), new KeyValue("CHAP_I", "1"),
                KeyValue.binary("CHAP_C", new byte[16])));
        assertThatThrownBy(() -> chap.receive(TextKeys.of(new KeyValue("CHAP_N", "writer"),
                KeyValue.binary("CHAP_R", new byte[16])))).isInstanceOf(ProtocolException.class)
                .hasMessageContaining("failed to authenticate itself");
        assertThatThrownBy(() -> chap.receive(TextKeys.NONE))
                .isInstanceOf(ProtocolException.class);
    }

    @Test
    void shouldRejectAnAlgorithmThatWasNotOffered() throws Exception {
        var chap = new InitiatorChap(USER, Optional.empty(), List.of(ChapAlgorithm.SHA256),
                source());
        chap.receive(keys("AuthMethod", "CHAP"));
        assertThatThrownBy(() -> chap.receive(TextKeys.of(new KeyValue("CHAP_A", "5"),
                new KeyValue("CHAP_I", "1"), KeyValue.binary("CHAP_C", new byte[16]))))
                .isInstanceOf(ProtocolException.class).hasMessageContaining("CHAP_A=5");
    }

    @Test
    void shouldNotDropAuthenticationOfTheTarget() {
        var chap = new InitiatorChap(USER, Optional.of(TARGET), List.of(ChapAlgorithm.MD5),
                source());
        assertThat(chap.method().value()).isEqualTo("CHAP");
        assertThatThrownBy(() -> chap.receive(keys("AuthMethod", "None")))
                .isInstanceOf(ProtocolException.class);
    }

    private static TargetChap challenged(ChapPolicy policy) throws Exception {
        var chap = new TargetChap(policy, source());
        chap.receive(keys("CHAP_A", "5"));
        return chap;
    }

    /** A right response to {@link #source}'s challenge, and a challenge. */
    private static TextKeys mutual(KeyValue challenge) {
        byte[] response = ChapAlgorithm.MD5.response(source().bytes(1)[0], SECRET,
                source().bytes(32));
        return TextKeys.of(new KeyValue("CHAP_N", "reader"), KeyValue.binary("CHAP_R", response),
                new KeyValue("CHAP_I", "9"), challenge);
    }

    private static TextKeys keys(String key, String value) {
        return TextKeys.of(new KeyValue(key, value));
    }

    private static ChallengeSource source() {
        return count -> {
            byte[] bytes = new byte[count];
            Arrays.fill(bytes, (byte) (count + 3));
            return bytes;
        };
    }

    private interface Call {
        Object run() throws Exception;
    }

    private static void assertAuthenticationFailure(Call call, String reason) {
        assertThatThrownBy(call::run).isInstanceOfSatisfying(LoginException.class, e -> {
            assertThat(e.statusClass()).isEqualTo(2);
            assertThat(e.statusDetail()).isEqualTo(1);
            assertThat(e).hasMessageContaining(reason);
        });
    }
}
