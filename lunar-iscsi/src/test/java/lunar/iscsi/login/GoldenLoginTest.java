package lunar.iscsi.login;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;
import lunar.iscsi.GoldenCapture;
import lunar.iscsi.LoginStatus;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.pdu.LoginRequest;
import lunar.iscsi.pdu.LoginResponse;
import lunar.iscsi.text.KeyValue;
import lunar.iscsi.text.TextKeys;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares both ends of the login with foreign peers, in every capture that begins with a login. */
class GoldenLoginTest {
    private static final ChapCredentials READER = new ChapCredentials("reader",
            Secret.of("secret-of-reader"));
    private static final ChapCredentials WRITER = new ChapCredentials("writer",
            Secret.of("secret-of-target"));

    static Stream<GoldenCapture> captures() {
        return GoldenCapture.all().stream()
                .filter(each -> each.pdus().getFirst().bhs().opcode() == LoginRequest.OPCODE);
    }

    @ParameterizedTest
    @MethodSource("captures")
    void shouldAnswerForeignInitiatorsWithValidText(GoldenCapture capture) throws Exception {
        boolean chap = capture.name().contains("chap");
        boolean wantsHeaderDigest = requests(capture).stream()
                .anyMatch(ask -> said(ask).stream()
                        .anyMatch(pair -> pair.toString().startsWith("HeaderDigest=CRC32C")));
        boolean joins = requests(capture).getFirst().tsih() != 0;
        LoginPolicy policy = applicant -> {
            var accept = LoginPolicy.Admission.Accept
                    .newSession(Offer.DEFAULT, 1, applicant.tsih() == 0 ? 7 : applicant.tsih())
                    .withTargetAlias("lunar");
            if (joins) {
                accept = accept.joining(OperationalParameters.DEFAULT);
            }
            return chap ? accept.withChap(ChapPolicy.of(READER).withOwn(WRITER)) : accept;
        };
        // The captured initiator answers the captured challenge: so that is the one to draw.
        var login = new TargetLogin(policy, challengesOf(capture, false), LoginLimits.DEFAULT);
        TargetLogin.Step last = null;
        for (var ask : requests(capture)) {
            last = login.receive(ask);
            assertThat(TextKeys.parse(last.answer().text(), 256)).isNotNull();
            if (last instanceof TargetLogin.Complete) {
                break;
            }
        }
        if (capture.name().contains("wrong-secret")) {
            assertThat(last).isInstanceOfSatisfying(TargetLogin.Fail.class, fail -> assertThat(
                    fail.status()).isEqualTo(LoginStatus.AUTHENTICATION_FAILURE));
            return;
        }
        assertThat(last).isInstanceOfSatisfying(TargetLogin.Complete.class, done -> {
            var result = done.result();
            assertThat(result.initiatorName()).isEqualTo("iqn.2026-01.org.lunar:initiator");
            assertThat(result.chapUser())
                    .isEqualTo(chap ? Optional.of("reader") : Optional.empty());
            assertThat(result.parameters().headerDigest()).isEqualTo(wantsHeaderDigest);
        });
    }

    @ParameterizedTest
    @MethodSource("captures")
    void shouldUnderstandForeignTargets(GoldenCapture capture) throws Exception {
        var asks = requests(capture);
        var answers = answers(capture);
        var login = new InitiatorLogin(settings(capture, asks), challengesOf(capture, true));
        login.first();
        InitiatorLogin.Step last = null;
        for (var answer : answers) {
            last = login.receive(answer);
            if (!(last instanceof InitiatorLogin.Send)) {
                break;
            }
        }
        if (capture.name().contains("wrong-secret")) {
            assertFailure(last, LoginStatus.AUTHENTICATION_FAILURE);
        } else if (capture.name().contains("unknown-target")) {
            assertFailure(last, LoginStatus.NOT_FOUND);
        } else if (capture.name().contains("digest-refused")) {
            assertThat(last).isInstanceOfSatisfying(InitiatorLogin.Fail.class,
                    fail -> assertThat(fail.failure()).hasMessageContaining("HeaderDigest=None"));
        } else if (capture.name().contains("small-bursts")) {
            // This one says T=0 to a request that says T=1; its initiator then said all of it again.
            assertThat(login.receive(answers.getLast()))
                    .isInstanceOf(InitiatorLogin.Complete.class);
        } else {
            assertThat(last).isInstanceOfSatisfying(InitiatorLogin.Complete.class, done -> {
                var result = done.result();
                assertThat(result.tsih()).isEqualTo(answers.getLast().tsih());
                assertThat(result.parameters().headerDigest()).isEqualTo(capture.headerDigest());
                assertThat(result.parameters().dataDigest()).isEqualTo(capture.dataDigest());
                assertThat(result.parameters().maxSendDataSegmentLength())
                        .isEqualTo(capture.name().contains("-lio-") ? 262144 : 8192);
                assertThat(result.chapUser())
                        .isEqualTo(capture.name().contains("mutual")
                                ? Optional.of("writer")
                                : Optional.empty());
            });
        }
    }

    private static void assertFailure(InitiatorLogin.Step step, LoginStatus status) {
        assertThat(step).isInstanceOfSatisfying(InitiatorLogin.Fail.class, fail -> {
            assertThat(fail.failure().statusClass()).isEqualTo(status.statusClass());
            assertThat(fail.failure().statusDetail()).isEqualTo(status.detail());
            assertThat(fail.failure()).hasMessageContaining(status.text());
        });
    }

    /** The settings under which our end asks for what the captured initiator asked for. */
    private static InitiatorLogin.Settings settings(GoldenCapture capture, List<LoginAsk> asks)
            throws Exception {
        var keys = new ArrayList<KeyValue>();
        asks.forEach(ask -> keys.addAll(said(ask)));
        var said = new TextKeys(keys);
        var offer = offer(said);
        var isid = asks.getFirst().isid();
        var target = said.first("TargetName");
        var settings = target.isPresent()
                ? InitiatorLogin.Settings.normal("iqn.2026-01.org.lunar:initiator",
                        target.get().value(), isid, offer)
                : InitiatorLogin.Settings.discovery("iqn.2026-01.org.lunar:initiator", isid,
                        offer);
        if (capture.name().contains("mutual")) {
            settings = settings.withMutualChap(READER, WRITER);
        } else if (capture.name().contains("chap")) {
            settings = settings.withChap(READER);
        }
        if (asks.getFirst().tsih() != 0) {
            var leading = new LoginResult(OperationalParameters.DEFAULT, "i", Optional.empty(),
                    SessionType.NORMAL, Optional.empty(), Optional.empty(), OptionalInt.of(1), isid,
                    asks.getFirst().tsih(), 0, Optional.empty());
            settings = settings.joining(leading, asks.getFirst().cid());
        }
        return settings;
    }

    private static Offer offer(TextKeys said) throws ProtocolException {
        return Offer.DEFAULT.withHeaderDigest(digest(said, "HeaderDigest"))
                .withDataDigest(digest(said, "DataDigest"))
                .withInitialR2t(said.first("InitialR2T").map(KeyValue::value).orElse("No")
                        .equals("Yes"))
                .withImmediateData(said.first("ImmediateData").map(KeyValue::value).orElse("Yes")
                        .equals("Yes"))
                .withBurstLengths(number(said, "FirstBurstLength", 65536),
                        number(said, "MaxBurstLength", 262144))
                .withDefaultTime2WaitSeconds(number(said, "DefaultTime2Wait", 2))
                .withDefaultTime2RetainSeconds(number(said, "DefaultTime2Retain", 20))
                .withMaxConnections(number(said, "MaxConnections", 1))
                .withErrorRecoveryLevel(number(said, "ErrorRecoveryLevel", 0));
    }

    private static int number(TextKeys said, String key, int otherwise) {
        return said.first(key).map(pair -> Integer.valueOf(pair.value())).orElse(otherwise);
    }

    private static DigestChoice digest(TextKeys said, String key) {
        return switch (said.first(key).map(KeyValue::value).orElse("None")) {
            case "CRC32C" -> DigestChoice.REQUIRE_CRC32C;
            case "CRC32C,None" -> DigestChoice.PREFER_CRC32C;
            case "None,CRC32C" -> DigestChoice.PREFER_NONE;
            default -> DigestChoice.NONE;
        };
    }

    /** Draws the identifier and challenge which the captured initiator or target drew. */
    private static ChallengeSource challengesOf(GoldenCapture capture, boolean fromInitiator)
            throws Exception {
        int identifier = 0;
        byte[] challenge = {1};
        for (var pdu : capture.pdus()) {
            int opcode = pdu.bhs().opcode();
            if (pdu.fromInitiator() == fromInitiator
                    && (opcode == LoginRequest.OPCODE || opcode == LoginResponse.OPCODE)) {
                var keys = TextKeys.parse(text(pdu), 256);
                if (keys.first("CHAP_C").isPresent()) {
                    identifier = (int) keys.first("CHAP_I").orElseThrow().number();
                    challenge = keys.first("CHAP_C").orElseThrow().bytes();
                }
            }
        }
        byte[] first = {(byte) identifier};
        byte[] second = challenge;
        return count -> count == 1 ? first : second;
    }

    private static List<LoginAsk> requests(GoldenCapture capture) throws Exception {
        var asks = new ArrayList<LoginAsk>();
        for (var pdu : capture.pdus()) {
            if (pdu.fromInitiator() && pdu.bhs().opcode() == LoginRequest.OPCODE) {
                asks.add(LoginAsk.of(LoginRequest.decode(pdu.bhs()), text(pdu)));
            }
        }
        return asks;
    }

    private static List<LoginAnswer> answers(GoldenCapture capture) throws Exception {
        var answers = new ArrayList<LoginAnswer>();
        for (var pdu : capture.pdus()) {
            if (!pdu.fromInitiator() && pdu.bhs().opcode() == LoginResponse.OPCODE) {
                answers.add(LoginAnswer.of(LoginResponse.decode(pdu.bhs()), text(pdu)));
            }
        }
        return answers;
    }

    private static List<KeyValue> said(LoginAsk ask) {
        try {
            return TextKeys.parse(ask.text(), 256).pairs();
        } catch (ProtocolException e) {
            throw new AssertionError(e);
        }
    }

    private static MemorySegment text(GoldenCapture.Pdu pdu) {
        return pdu.paddedData().asSlice(0, pdu.bhs().dataSegmentLength());
    }
}
