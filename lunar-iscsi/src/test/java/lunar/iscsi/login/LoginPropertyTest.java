package lunar.iscsi.login;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import lunar.iscsi.pdu.LoginStage;
import org.junit.jupiter.api.Test;

/** Tests both ends of the login with each other, and each with random input; {@code -Dlunar.seed=} reproduces a run. */
class LoginPropertyTest {
    private static final long SEED = Long.getLong("lunar.seed", 7143);

    @Test
    void shouldAgreeOnEveryParameter() {
        var random = new Random(SEED);
        int agreed = 0;
        for (int round = 0; round < 1500; round++) {
            String which = "seed " + SEED + " round " + round;
            var mine = offer(random);
            var theirs = offer(random);
            boolean discovery = random.nextInt(8) == 0;
            int chap = random.nextInt(3);
            var settings = discovery
                    ? InitiatorLogin.Settings.discovery(LoginFixture.INITIATOR, LoginFixture.ISID,
                            mine)
                    : InitiatorLogin.Settings.normal(LoginFixture.INITIATOR, LoginFixture.TARGET,
                            LoginFixture.ISID, mine);
            var admission = LoginPolicy.Admission.Accept.newSession(theirs, 5, 9);
            if (chap > 0) {
                settings = chap == 1
                        ? settings.withChap(LoginFixture.USER)
                        : settings.withMutualChap(LoginFixture.USER, LoginFixture.OWN);
                settings = settings.withAlgorithms(
                        List.of(ChapAlgorithm.values()[random.nextInt(4)], ChapAlgorithm.MD5));
                admission = admission.withChap(
                        ChapPolicy.of(LoginFixture.USER).withOwn(LoginFixture.OWN));
            }
            var outcome = LoginFixture.talk(
                    new InitiatorLogin(settings, LoginFixture.challenges(round)),
                    target(admission, round));
            if (!meet(mine.headerDigest(), theirs.headerDigest())
                    || !meet(mine.dataDigest(), theirs.dataDigest())
                    || (!discovery && mine.iser().isPresent() != theirs.iser().isPresent())) {
                assertThat(outcome.initiator()).as(which).isInstanceOf(InitiatorLogin.Fail.class);
                continue;
            }
            agreed++;
            assertThat(outcome.initiator()).as(which).isInstanceOf(InitiatorLogin.Complete.class);
            var initiator = ((InitiatorLogin.Complete) outcome.initiator()).result();
            var target = ((TargetLogin.Complete) outcome.target()).result();
            var own = initiator.parameters();
            int sends = own.maxSendDataSegmentLength();
            int receives = own.maxReceiveDataSegmentLength();
            if (discovery) { // an end may send less than its peer takes
                int taken = target.parameters().maxReceiveDataSegmentLength();
                assertThat(sends).as(which).isEqualTo(withRoom(taken,
                        mine.iser().map(Offer.Iser::targetReceiveDataSegmentLength)));
                sends = taken;
                receives = withRoom(receives,
                        theirs.iser().map(Offer.Iser::initiatorReceiveDataSegmentLength));
            }
            assertThat(mirrored(own, sends, receives)).as(which).isEqualTo(target.parameters());
            assertThat(initiator.tsih()).isEqualTo(target.tsih());
            assertThat(initiator.portalGroupTag())
                    .isEqualTo(discovery ? OptionalInt.empty() : OptionalInt.of(5))
                    .isEqualTo(target.portalGroupTag());
            assertThat(target.chapUser().isPresent()).as(which).isEqualTo(chap > 0);
            assertThat(initiator.chapUser().isPresent()).as(which).isEqualTo(chap == 2);
            if (!discovery) {
                assertValues(which, mine, theirs, target.parameters());
            }
        }
        assertThat(agreed).as("seed " + SEED).isGreaterThan(500);
    }

    @Test
    void shouldFailOnBothEndsWhereSecretsDiffer() {
        var wrong = new ChapCredentials("reader", Secret.of("another-secret"));
        var settings = InitiatorLogin.Settings.normal(LoginFixture.INITIATOR, LoginFixture.TARGET,
                LoginFixture.ISID, Offer.DEFAULT);
        var admission = LoginFixture.ACCEPT
                .withChap(ChapPolicy.of(LoginFixture.USER).withOwn(LoginFixture.OWN));
        var refused = LoginFixture.talk(
                new InitiatorLogin(settings.withChap(wrong), LoginFixture.challenges(3)),
                target(admission, 1));
        assertThat(refused.target()).isInstanceOf(TargetLogin.Fail.class);
        assertThat(refused.initiator()).isInstanceOf(InitiatorLogin.Fail.class);
        var unproved = LoginFixture.talk(new InitiatorLogin(
                settings.withMutualChap(LoginFixture.USER,
                        new ChapCredentials("writer", Secret.of("another-secret"))),
                LoginFixture.challenges(3)), target(admission, 1));
        assertThat(unproved.initiator()).isInstanceOfSatisfying(InitiatorLogin.Fail.class,
                fail -> assertThat(fail.failure())
                        .hasMessageContaining("failed to authenticate itself"));
    }

    @Test
    void shouldJoinSessionsWithTheParametersOfTheSession() {
        var settings = InitiatorLogin.Settings.normal(LoginFixture.INITIATOR, LoginFixture.TARGET,
                LoginFixture.ISID, Offer.DEFAULT.withMaxConnections(4));
        var accept = LoginPolicy.Admission.Accept.newSession(
                Offer.DEFAULT.withMaxConnections(2).withBurstLengths(262144, 262144), 1, 7);
        var leading = LoginFixture.talk(
                new InitiatorLogin(settings, LoginFixture.challenges(1)), target(accept, 1));
        var initiator = ((InitiatorLogin.Complete) leading.initiator()).result();
        var target = ((TargetLogin.Complete) leading.target()).result();
        var second = LoginFixture.talk(
                new InitiatorLogin(settings.joining(initiator, 1), LoginFixture.challenges(1)),
                target(accept.joining(target.parameters()), 1));
        var joined = ((InitiatorLogin.Complete) second.initiator()).result();
        assertThat(joined.parameters()).isEqualTo(initiator.parameters());
        assertThat(joined.cid()).isEqualTo(1);
        assertThat(((TargetLogin.Complete) second.target()).result().parameters())
                .isEqualTo(target.parameters());
    }

    @Test
    void shouldSurviveMutatedRequests() {
        var random = new Random(SEED);
        var seeds = List.of(LoginFixture.last(LoginFixture.names("HeaderDigest=None;CRC32C",
                "InitialR2T=No", "MaxBurstLength=262144", "FirstBurstLength=65536",
                "RDMAExtensions=Yes")),
                LoginFixture.security(LoginFixture.names("AuthMethod=CHAP;None")),
                LoginFixture.security("CHAP_A=5;7"), LoginFixture.security(
                        "CHAP_N=reader,CHAP_R=0x00112233445566778899aabbccddeeff,CHAP_I=1,CHAP_C=0b00"),
                LoginFixture.last(""));
        for (int round = 0; round < 2000; round++) {
            var admission = LoginFixture.ACCEPT;
            var login = target(random.nextBoolean()
                    ? admission
                    : admission.withChap(ChapPolicy.of(LoginFixture.USER)), round);
            TargetLogin.Step step;
            int turns = 0;
            do {
                step = login.receive(mutated(seeds.get(Math.min(
                        random.nextInt(seeds.size()), turns + random.nextInt(3))), random));
                turns++;
            } while (step instanceof TargetLogin.Respond);
            assertThat(turns).as("seed " + SEED + " round " + round)
                    .isLessThanOrEqualTo(LoginLimits.DEFAULT.turns() + 1);
            if (step instanceof TargetLogin.Fail fail) {
                assertThat(fail.reason()).isNotEmpty().doesNotContain("\n");
            }
        }
    }

    @Test
    void shouldSurviveMutatedResponses() {
        var random = new Random(SEED);
        var seeds = List.of(
                LoginFixture.answer(LoginStage.SECURITY, false, 0, "AuthMethod=CHAP"),
                LoginFixture.answer(LoginStage.SECURITY, false, 0,
                        "CHAP_A=5,CHAP_I=1,CHAP_C=0x0011"),
                LoginFixture.answer(LoginStage.SECURITY, true, 0, "CHAP_N=writer,CHAP_R=0x00"),
                LoginFixture.answer(LoginStage.OPERATIONAL, true, 9,
                        "HeaderDigest=None,InitialR2T=No,MaxBurstLength=262144,IFMarkInt=1~2"),
                LoginFixture.refusal(1, 1, "TargetAddress=[::1]:3260"));
        for (int round = 0; round < 2000; round++) {
            var settings = InitiatorLogin.Settings.normal(LoginFixture.INITIATOR,
                    LoginFixture.TARGET, LoginFixture.ISID, offer(random));
            var login = new InitiatorLogin(
                    random.nextBoolean()
                            ? settings
                            : settings.withMutualChap(LoginFixture.USER, LoginFixture.OWN),
                    LoginFixture.challenges(round));
            login.first();
            int turns = 0;
            InitiatorLogin.Step step;
            do {
                step = login.receive(mutated(
                        seeds.get(Math.min(random.nextInt(seeds.size()), turns)), random));
                turns++;
            } while (step instanceof InitiatorLogin.Send);
            assertThat(turns).as("seed " + SEED + " round " + round)
                    .isLessThanOrEqualTo(LoginLimits.DEFAULT.turns() + 1);
        }
    }

    private static TargetLogin target(LoginPolicy.Admission admission, int seed) {
        return new TargetLogin(_ -> admission, LoginFixture.challenges(~seed),
                LoginLimits.DEFAULT);
    }

    /** Bytes of data that an end sends in a PDU; its messages over RDMA may have room for less than the peer takes. */
    private static int withRoom(int taken, Optional<Integer> room) {
        return Math.min(taken, room.orElse(taken));
    }

    private static OperationalParameters mirrored(OperationalParameters p, int receive, int send) {
        return new OperationalParameters(p.headerDigest(), p.dataDigest(), p.maxConnections(),
                p.initialR2t(), p.immediateData(), receive, send, p.maxBurstLength(),
                p.firstBurstLength(), p.defaultTime2WaitSeconds(), p.defaultTime2RetainSeconds(),
                p.maxOutstandingR2t(),
                p.dataPduInOrder(), p.dataSequenceInOrder(), p.errorRecoveryLevel(),
                p.taskReporting(), p.protocolLevel(),
                p.iser().map(i -> new OperationalParameters.Iser(
                        i.initiatorReceiveDataSegmentLength(), i.targetReceiveDataSegmentLength(),
                        16, 0, i.taggedBufferForSolicitedDataOnly(), i.helloRequired())));
    }

    /** The result functions of chapter 13, written down a second time. */
    private static void assertValues(String which, Offer a, Offer b, OperationalParameters p) {
        assertThat(p.initialR2t()).as(which).isEqualTo(a.initialR2t() || b.initialR2t());
        assertThat(p.immediateData()).as(which).isEqualTo(a.immediateData() && b.immediateData());
        assertThat(p.maxConnections()).as(which)
                .isEqualTo(Math.min(a.maxConnections(), b.maxConnections()));
        assertThat(p.maxBurstLength()).as(which)
                .isEqualTo(Math.min(a.maxBurstLength(), b.maxBurstLength()));
        assertThat(p.firstBurstLength()).as(which)
                .isEqualTo(Math.min(a.firstBurstLength(), b.firstBurstLength()));
        assertThat(p.defaultTime2WaitSeconds()).as(which).isEqualTo(
                Math.max(a.defaultTime2WaitSeconds(), b.defaultTime2WaitSeconds()));
        assertThat(p.defaultTime2RetainSeconds()).as(which).isEqualTo(
                Math.min(a.defaultTime2RetainSeconds(), b.defaultTime2RetainSeconds()));
        assertThat(p.maxOutstandingR2t()).as(which)
                .isEqualTo(Math.min(a.maxOutstandingR2t(), b.maxOutstandingR2t()));
        assertThat(p.errorRecoveryLevel()).as(which)
                .isEqualTo(Math.min(a.errorRecoveryLevel(), b.errorRecoveryLevel()));
        assertThat(p.iser().isPresent()).as(which).isEqualTo(a.iser().isPresent());
    }

    private static boolean meet(DigestChoice a, DigestChoice b) {
        return a.offered().stream().anyMatch(b.offered()::contains);
    }

    private static Offer offer(Random random) {
        int maxBurst = 512 + random.nextInt(1 << 20);
        int firstBurst = 512 + random.nextInt(maxBurst - 511);
        var reporting = new ArrayList<>(List.of(TaskReporting.RFC3720));
        if (random.nextBoolean()) {
            reporting.addFirst(TaskReporting.RESPONSE_FENCE);
        }
        boolean iser = random.nextInt(3) == 0;
        Offer offer = Offer.DEFAULT.withHeaderDigest(digest(random)).withDataDigest(digest(random))
                .withMaxConnections(1 + random.nextInt(8)).withInitialR2t(random.nextBoolean())
                .withImmediateData(random.nextBoolean())
                .withMaxReceiveDataSegmentLength(512 + random.nextInt(1 << 20))
                .withBurstLengths(firstBurst, maxBurst)
                .withDefaultTime2WaitSeconds(random.nextInt(3601))
                .withDefaultTime2RetainSeconds(random.nextInt(3601))
                .withMaxOutstandingR2t(1 + random.nextInt(100))
                .withDataPduInOrder(random.nextBoolean())
                .withDataSequenceInOrder(random.nextBoolean())
                .withErrorRecoveryLevel(random.nextInt(3)).withTaskReporting(reporting)
                .withProtocolLevel(random.nextInt(3));
        return iser
                ? offer.withIser(new Offer.Iser(512 + random.nextInt(9000),
                        512 + random.nextInt(9000), 16, 0, random.nextBoolean(),
                        random.nextBoolean()))
                : offer;
    }

    private static DigestChoice digest(Random random) {
        return DigestChoice.values()[random.nextInt(4)];
    }

    private static LoginAsk mutated(LoginAsk ask, Random random) {
        return new LoginAsk(flip(ask.transit(), random), flip(ask.more(), random),
                stage(ask.stage(), random), stage(ask.nextStage(), random), 0,
                random.nextInt(50) == 0 ? 1 : 0, ask.isid(), ask.tsih(), ask.cid(),
                mutated(ask.text(), random));
    }

    private static LoginAnswer mutated(LoginAnswer answer, Random random) {
        return new LoginAnswer(flip(answer.transit(), random), flip(answer.more(), random),
                stage(answer.stage(), random), stage(answer.nextStage(), random), 0,
                random.nextInt(50) == 0 ? 1 : 0, answer.isid(), random.nextInt(0x10000),
                random.nextInt(20) == 0 ? random.nextInt(256) : answer.statusClass(),
                random.nextInt(20) == 0 ? random.nextInt(256) : answer.statusDetail(),
                mutated(answer.text(), random));
    }

    private static boolean flip(boolean bit, Random random) {
        return bit ^ (random.nextInt(8) == 0);
    }

    private static LoginStage stage(LoginStage stage, Random random) {
        return random.nextInt(16) == 0 ? LoginStage.values()[random.nextInt(3)] : stage;
    }

    private static MemorySegment mutated(MemorySegment text, Random random) {
        byte[] bytes = text.toArray(ValueLayout.JAVA_BYTE);
        for (int i = random.nextInt(4); i > 0 && bytes.length > 0; i--) {
            int at = random.nextInt(bytes.length);
            switch (random.nextInt(3)) {
                case 0 -> bytes[at] = (byte) random.nextInt();
                case 1 -> bytes[at] = (byte) "0123456789=,~\0".charAt(random.nextInt(14));
                default -> {
                    int from = random.nextInt(bytes.length);
                    int length = Math.min(random.nextInt(16),
                            bytes.length - Math.max(from, at));
                    System.arraycopy(bytes, from, bytes, at, length);
                }
            }
        }
        return MemorySegment.ofArray(bytes);
    }

    @Test
    void shouldKeepOptionalResultsApart() {
        var settings = InitiatorLogin.Settings.discovery(LoginFixture.INITIATOR, LoginFixture.ISID,
                Offer.DEFAULT).withInitiatorAlias("host");
        var outcome = LoginFixture.talk(
                new InitiatorLogin(settings, LoginFixture.challenges(1)),
                target(LoginFixture.ACCEPT.withTargetAlias("shelf"), 1));
        var target = ((TargetLogin.Complete) outcome.target()).result();
        assertThat(target.initiatorAlias()).contains("host");
        assertThat(target.targetName()).isEqualTo(Optional.empty());
        assertThat(((InitiatorLogin.Complete) outcome.initiator()).result().targetAlias())
                .contains("shelf");
    }
}
