package lunar.iscsi.login;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Stream;
import lunar.iscsi.GoldenCapture;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.pdu.Isid;
import lunar.iscsi.pdu.TextRequest;
import lunar.iscsi.pdu.TextResponse;
import lunar.iscsi.text.DiscoveredTarget;
import lunar.iscsi.text.KeyValue;
import lunar.iscsi.text.SendTargets;
import lunar.iscsi.text.SessionEnd;
import lunar.iscsi.text.TargetAddress;
import lunar.iscsi.text.TextKeys;
import lunar.iscsi.text.TextTurn;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests SendTargets and MaxRecvDataSegmentLength in the full feature phase. */
class TextNegotiationTest {
    private static final long SEED = Long.getLong("lunar.seed", 7143);
    private static final DiscoveredTarget DISK = new DiscoveredTarget("iqn.a:disk",
            List.of(new TargetAddress("10.0.0.1", 3260, OptionalInt.of(1)),
                    new TargetAddress("2001:db8::1", 3261, OptionalInt.of(2))));
    private static final DiscoveredTarget TAPE = new DiscoveredTarget("iqn.a:tape", List.of());

    static Stream<GoldenCapture> discoveries() {
        return GoldenCapture.all().stream().filter(each -> each.name().contains("discovery"));
    }

    @ParameterizedTest
    @MethodSource("discoveries")
    void shouldReadTheTargetsOfForeignTargets(GoldenCapture capture) throws Exception {
        var text = new InitiatorText(new SendTargets.All().request(), 8192,
                LoginLimits.DISCOVERY);
        text.first();
        InitiatorText.Step step = null;
        for (var pdu : capture.pdus()) {
            if (pdu.bhs().opcode() == TextResponse.OPCODE) {
                var response = TextResponse.decode(pdu.bhs());
                step = text.receive(new TextTurn(response.isFinal(), response.continues(),
                        pdu.paddedData().asSlice(0, pdu.bhs().dataSegmentLength())));
            }
        }
        assertThat(step).isInstanceOfSatisfying(InitiatorText.Complete.class, done -> {
            var targets = parse(done.answer());
            assertThat(targets).hasSizeGreaterThanOrEqualTo(4).allSatisfy(target -> {
                assertThat(target.name()).startsWith("iqn.2026-01.org.lunar:");
                assertThat(target.addresses()).hasSize(1);
                assertThat(target.addresses().getFirst().portalGroupTag()).hasValue(1);
            });
        });
    }

    @ParameterizedTest
    @MethodSource("discoveries")
    void shouldAnswerForeignInitiators(GoldenCapture capture) throws Exception {
        for (var pdu : capture.pdus()) {
            if (pdu.bhs().opcode() == TextRequest.OPCODE && pdu.bhs().dataSegmentLength() > 0) {
                var request = TextRequest.decode(pdu.bhs());
                var answer = target(SessionType.DISCOVERY, 8192)
                        .receive(new TextTurn(request.isFinal(), request.continues(),
                                pdu.paddedData().asSlice(0, pdu.bhs().dataSegmentLength())));
                assertThat(answer.isFinal()).isTrue();
                assertThat(LoginFixture.said(answer.text())).containsExactly(
                        "TargetName=iqn.a:disk", "TargetAddress=10.0.0.1:3260,1",
                        "TargetAddress=[2001:db8::1]:3261,2", "TargetName=iqn.a:tape");
            }
        }
    }

    @Test
    void shouldDiscoverWithPiecesOfAnySize() throws Exception {
        var random = new Random(SEED);
        for (int round = 0; round < 200; round++) {
            var target = target(SessionType.DISCOVERY, 1 + random.nextInt(60));
            var initiator = new InitiatorText(new SendTargets.All().request(),
                    1 + random.nextInt(20), LoginLimits.DISCOVERY);
            var turn = initiator.first();
            while (true) {
                var step = initiator.receive(target.receive(turn));
                if (step instanceof InitiatorText.Complete(var answer)) {
                    assertThat(SendTargets.parse(answer, _ -> {})).as("seed " + SEED)
                            .containsExactly(DISK, TAPE);
                    break;
                }
                turn = ((InitiatorText.Send) step).request();
            }
        }
    }

    @Test
    void shouldReportToNormalSessionsTheirOwnTargetOnly() throws Exception {
        assertThat(ask(SessionType.NORMAL, "SendTargets=All"))
                .containsExactly("SendTargets=Reject");
        assertThat(ask(SessionType.DISCOVERY, "SendTargets="))
                .containsExactly("SendTargets=Reject");
        assertThat(ask(SessionType.NORMAL, "SendTargets=")).contains("TargetName=iqn.a:disk");
        assertThat(ask(SessionType.NORMAL, "SendTargets=iqn.a:disk"))
                .contains("TargetName=iqn.a:disk");
    }

    @Test
    void shouldAnswerOtherKeys() throws Exception {
        assertThat(ask(SessionType.NORMAL,
                "HeaderDigest=CRC32C,X-a=1,X-b=NotUnderstood,InitiatorAlias=host"))
                .containsExactly("HeaderDigest=Reject", "X-a=NotUnderstood");
    }

    @Test
    void shouldAcceptANewLengthOfDataSegments() throws Exception {
        var text = target(SessionType.NORMAL, 8192);
        assertThat(text.maxSendDataSegmentLength()).isEmpty();
        text.receive(turn("MaxRecvDataSegmentLength=65536"));
        assertThat(text.maxSendDataSegmentLength()).hasValue(65536);
        assertThatThrownBy(() -> target(SessionType.NORMAL, 8192)
                .receive(turn("MaxRecvDataSegmentLength=511")))
                .isInstanceOf(ProtocolException.class);
    }

    @Test
    void shouldRejectRepeatedKeysAndTextInTheMiddle() throws Exception {
        assertThatThrownBy(() -> target(SessionType.DISCOVERY, 8192)
                .receive(turn("SendTargets=All,SendTargets=All")))
                .isInstanceOf(ProtocolException.class).hasMessageContaining("sent before");
        var text = target(SessionType.DISCOVERY, 10);
        assertThat(text.receive(turn("SendTargets=All")).more()).isTrue();
        assertThatThrownBy(() -> text.receive(turn("X-a=1"))).isInstanceOf(ProtocolException.class);
    }

    @Test
    void shouldNotEndBeforeTheInitiatorDoes() throws Exception {
        var text = target(SessionType.NORMAL, 8192);
        var more = text.receive(new TextTurn(false, false,
                LoginFixture.keys("InitiatorAlias=a").write()));
        assertThat(more.isFinal()).isFalse();
        assertThat(text.receive(turn("")).isFinal()).isTrue();
    }

    @Test
    void shouldLimitTurns() {
        var limits = new LoginLimits(3, 1000, 10);
        var text = new InitiatorText(new SendTargets.All().request(), 8192, limits);
        text.first();
        assertThatThrownBy(() -> {
            for (int i = 0; i < 4; i++) {
                text.receive(new TextTurn(false, false, MemorySegment.NULL));
            }
        }).isInstanceOf(ProtocolException.class).hasMessageContaining("more than 3");
    }

    @ParameterizedTest
    @ValueSource(strings = {"TargetAddress=10.0.0.1:3260;1", "TargetName=a b",
            "TargetName=iqn.a:b,TargetAddress=10.0.0.1:0;1", "SendTargets=Reject"})
    void shouldRejectAnswersThatNameNoTargets(String answer) {
        assertThatThrownBy(() -> SendTargets.parse(LoginFixture.keys(answer), _ -> {}))
                .isInstanceOf(ProtocolException.class);
    }

    @Test
    void shouldSkipMalformedEntriesAndUseTheRest() throws Exception {
        var skipped = new ArrayList<String>();
        var keys = LoginFixture.keys("TargetName=iqn.a:one,TargetAddress=10.0.0.1:0;1,"
                + "TargetAddress=10.0.0.1:3260;1,TargetName=iqn.a:none,TargetAddress=:3260,"
                + "TargetName=a b,TargetAddress=10.0.0.2:3260,TargetName=iqn.a:here");
        assertThat(SendTargets.parse(keys, why -> skipped.add(why.getMessage()))).containsExactly(
                new DiscoveredTarget("iqn.a:one",
                        List.of(new TargetAddress("10.0.0.1", 3260, OptionalInt.of(1)))),
                new DiscoveredTarget("iqn.a:here", List.of()));
        assertThat(skipped).hasSize(3).anyMatch(why -> why.contains("10.0.0.1:0"))
                .anyMatch(why -> why.contains("=:3260")).anyMatch(why -> why.contains("a b"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"10.0.0.1|10.0.0.1|3260|-1",
            "san.example:3261|san.example|3261|-1", "[::1]|::1|3260|-1",
            "[fe80::1]:860,65535|fe80::1|860|65535", "10.0.0.1,0|10.0.0.1|3260|0"})
    void shouldReadAddresses(String text, String host, int port, int tag) throws Exception {
        var address = TargetAddress.parse(text);
        assertThat(address).isEqualTo(new TargetAddress(host, port,
                tag < 0 ? OptionalInt.empty() : OptionalInt.of(tag)));
        assertThat(TargetAddress.parse(address.toString())).isEqualTo(address);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ":3260", "a:", "a:0", "a:65536", "a:1,65536", "a:1,", "a:x",
            "[::1", "[::1]3260", "[a]:1", "::1", "a b", "a:1,1,1", "[]:1", "a:+1", "a\u009b2Jb",
            "a\u202eb", "a\u2066b", "a\u200fb", "a\u2028b", "a\u00a0b", "a\ud800b",
            "[fe80::1%\u0085]"})
    void shouldRejectInvalidAddresses(String text) {
        assertThatThrownBy(() -> TargetAddress.parse(text)).isInstanceOf(ProtocolException.class);
    }

    @Test
    void shouldThrowNothingButProtocolExceptionOnRandomTurns() {
        var random = new Random(SEED);
        for (int round = 0; round < 3000; round++) {
            var target = target(SessionType.DISCOVERY, 1 + random.nextInt(50));
            var initiator = new InitiatorText(new SendTargets.All().request(),
                    1 + random.nextInt(50), LoginLimits.DEFAULT);
            initiator.first();
            for (int i = 0; i < 5; i++) {
                byte[] bytes = LoginFixture.keys("SendTargets=All,X-a=1").write()
                        .toArray(ValueLayout.JAVA_BYTE);
                for (int j = random.nextInt(4); j > 0; j--) {
                    bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
                }
                var turn = new TextTurn(random.nextBoolean(), random.nextBoolean(),
                        random.nextInt(3) == 0
                                ? MemorySegment.NULL
                                : MemorySegment.ofArray(bytes));
                try {
                    assertThat(target.receive(turn)).isNotNull();
                    assertThat(initiator.receive(turn)).isNotNull();
                } catch (ProtocolException e) {
                    assertThat(e.getMessage()).as("seed " + SEED + " round " + round)
                            .isNotEmpty();
                    break;
                }
            }
        }
    }

    @Test
    void shouldEndASessionOnlyAtTheAddressedServer() throws Exception {
        var server = new Ends();
        assertThat(SessionEnd.instance(
                exchange(target(SessionType.NORMAL, 8192, server), SessionEnd.question())))
                .contains(server.instance());
        var own = new SessionEnd(server.instance(), new Isid(0x8000_1234_5678L), 3,
                "iqn.2026-11.org.lunar:disk");
        assertThat(SessionEnd
                .answer(exchange(target(SessionType.NORMAL, 8192, server), own.request())))
                .contains(SessionEnd.Answer.ENDING);
        assertThat(server.asked).containsExactly(own);
        var forbidden = new SessionEnd(own.server(), own.isid(), Ends.FORBIDDEN, own.targetName());
        assertThat(exchange(target(SessionType.NORMAL, 8192, server), forbidden.request())
                .first(SessionEnd.KEY).orElseThrow().value()).isEqualTo("Reject");
        server.asked.clear();
        var others = new SessionEnd(new UUID(3, 4), own.isid(), 3, own.targetName());
        TextKeys refused = exchange(target(SessionType.NORMAL, 8192, server), others.request());
        assertThat(SessionEnd.answer(refused)).isEmpty();
        assertThat(refused.first(SessionEnd.KEY).orElseThrow().value()).isEqualTo("Reject");
        assertThat(server.asked).isEmpty();
        assertThat(SessionEnd
                .answer(exchange(target(SessionType.DISCOVERY, 8192, server), own.request())))
                .isEmpty();
        for (String nonsense : List.of("x", own.server() + ",800012345678,70000,iqn.x",
                own.server() + ",80001234567,1,iqn.x", own.server() + ",800012345678,1,")) {
            assertThatThrownBy(() -> exchange(target(SessionType.NORMAL, 8192, server),
                    TextKeys.of(new KeyValue(SessionEnd.KEY, nonsense))))
                    .isInstanceOf(ProtocolException.class);
        }
    }

    private static List<String> ask(SessionType type, String pairs) throws ProtocolException {
        return LoginFixture.said(target(type, 8192).receive(turn(pairs)).text());
    }

    private static TextTurn turn(String pairs) {
        return new TextTurn(true, false, LoginFixture.keys(pairs).write());
    }

    private static List<DiscoveredTarget> parse(TextKeys keys) {
        try {
            return SendTargets.parse(keys, _ -> {});
        } catch (ProtocolException e) {
            throw new AssertionError(e);
        }
    }

    private static TargetText target(SessionType type, int maxSend) {
        return target(type, maxSend, new Ends());
    }

    private static TargetText target(SessionType type, int maxSend, SessionEnd.Server ends) {
        var result = new LoginResult(
                OperationalParameters.DEFAULT.withMaxSendDataSegmentLength(maxSend), "iqn.a:i",
                Optional.empty(), type, Optional.of("iqn.a:disk"), Optional.empty(),
                OptionalInt.of(1),
                LoginFixture.ISID, 1, 0, Optional.empty());
        return new TargetText(result, question -> switch (question) {
            case SendTargets.All _ -> List.of(DISK, TAPE);
            case SendTargets.Named(String name) -> name.equals(DISK.name())
                    ? List.of(DISK)
                    : List.of();
            case SendTargets.Current _ -> List.of(DISK);
        }, ends, LoginLimits.DEFAULT);
    }

    private static TextKeys exchange(TargetText text, TextKeys keys) throws ProtocolException {
        return TextKeys.parse(text.receive(new TextTurn(true, false, keys.write())).text(), 10);
    }

    /** A server that is asked for the end of sessions. */
    private static final class Ends implements SessionEnd.Server {
        private static final int FORBIDDEN = 4;

        private final UUID instance = new UUID(1, 2);
        private final List<SessionEnd> asked = new ArrayList<>();

        @Override
        public UUID instance() { return instance; }

        @Override
        public Optional<SessionEnd.Answer> end(SessionEnd one) {
            asked.add(one);
            return one.portalGroupTag() == FORBIDDEN
                    ? Optional.empty()
                    : Optional.of(SessionEnd.Answer.ENDING);
        }
    }
}
