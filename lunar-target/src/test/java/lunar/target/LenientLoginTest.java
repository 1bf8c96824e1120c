package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import lunar.iscsi.login.ChapCredentials;
import lunar.iscsi.login.ChapPolicy;
import lunar.iscsi.login.Secret;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.LoginRequest;
import lunar.iscsi.pdu.LoginResponse;
import lunar.iscsi.pdu.LoginStage;
import lunar.iscsi.pdu.LogoutReason;
import lunar.iscsi.pdu.LogoutRequest;
import lunar.iscsi.pdu.LogoutResponse;
import lunar.iscsi.pdu.NopOut;
import lunar.scsi.Lun;
import lunar.scsi.Status;
import lunar.testkit.CapturedLog;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests logins that violate the RFC but that other targets accept, and those that are rejected. */
class LenientLoginTest {
    private static final int IMMEDIATE = 0x40;
    private static final int FLAGS = 1;
    private static final int ITT = 16;

    private static byte[] login(RawInitiator initiator, LoginStage stage, boolean transit,
            String... keys) {
        byte[] text = (String.join("\0", keys) + "\0").getBytes(StandardCharsets.UTF_8);
        return RawInitiator.encode(new LoginRequest(transit, false, stage,
                transit ? LoginStage.FULL_FEATURE : stage, 0, 0, RawInitiator.isid(1), 0,
                initiator.newTag(), 0, initiator.cmdSn(), 0), text);
    }

    private static String[] names(String... more) {
        String[] all = Arrays.copyOf(new String[]{"InitiatorName=" + RawInitiator.NAME,
                "TargetName=" + RawInitiator.TARGET, "SessionType=Normal"}, 3 + more.length);
        System.arraycopy(more, 0, all, 3, more.length);
        return all;
    }

    private static void assertWorks(RawInitiator initiator) throws IOException {
        initiator.takeAttentions();
        assertThat(initiator.command(new byte[6], 0).status()).isEqualTo(Status.GOOD);
    }

    /** A Login Response that refuses, and the end of the connection. */
    private static void assertRefused(RawInitiator initiator, int status) throws IOException {
        RawInitiator.Received answer = initiator.receive();
        assertThat(answer.opcode()).isEqualTo(LoginResponse.OPCODE);
        assertThat(answer.bhs().int16(LoginResponse.STATUS_CLASS)).isEqualTo(status);
        assertThat(initiator.isClosedByTarget()).isTrue();
    }

    @Test
    void shouldAcceptMethodNoneInOperationalStage() throws Exception {
        try (var target = new TargetFixture(); var initiator = new RawInitiator(target.server)) {
            RawInitiator.Login login = initiator.login(RawInitiator.isid(1),
                    "AuthMethod=CHAP,None", "InitialR2T=Yes");
            assertThat(login.status()).isZero();
            assertThat(login.keys()).contains("AuthMethod=None", "InitialR2T=");
            assertWorks(initiator);
        }
    }

    @Test
    void shouldRejectMethodNoneIfChapIsRequired() throws Exception {
        var user = new ChapCredentials("me", Secret.of("a secret of some length"));
        try (var target = new TargetFixture(); var initiator = new RawInitiator(target.server)) {
            var _ = target.server.update(target.server.spec(RawInitiator.TARGET).orElseThrow()
                    .withChap(ChapPolicy.of(user)));
            assertThat(initiator.login(RawInitiator.isid(1), "AuthMethod=None").status())
                    .isEqualTo(0x0201);
            assertThat(initiator.isClosedByTarget()).isTrue();
        }
    }

    @Test
    void shouldAcceptLoginAndLogoutWithoutImmediateBit() throws Exception {
        try (var target = new TargetFixture();
                var initiator = new RawInitiator(target.server);
                var log = new CapturedLog("lunar.target")) {
            byte[] request = login(initiator, LoginStage.OPERATIONAL, true, names());
            request[0] &= (byte) ~IMMEDIATE;
            int used = initiator.useCmdSn();
            initiator.sendBytes(request);
            assertThat(initiator.loginAnswer().status()).isZero();
            assertWorks(initiator);
            assertThat(initiator.cmdSn()).isGreaterThan(used);

            initiator.send(new LogoutRequest(false, LogoutReason.CLOSE_SESSION,
                    initiator.newTag(), 0, initiator.useCmdSn(), initiator.expStatSn()),
                    new byte[0]);
            assertThat(initiator.receive().opcode()).isEqualTo(LogoutResponse.OPCODE);
            assertThat(initiator.isClosedByTarget()).isTrue();
            assertThat(log.linesWith("Login Request without the I bit")).hasSize(1);
            assertThat(log.linesWith("Logout Request without the I bit")).hasSize(1);
        }
    }

    @ParameterizedTest(name = "{1}")
    @CsvSource({"c7, T and C", "8f, CSG of full feature phase", "88, a reserved stage",
            "85, no transition", "86, a reserved next stage"})
    void shouldRejectLoginWithInvalidHeader(String flags, String what) throws Exception {
        try (var target = new TargetFixture(); var initiator = new RawInitiator(target.server)) {
            byte[] request = login(initiator, LoginStage.OPERATIONAL, true, names());
            request[FLAGS] = (byte) Integer.parseInt(flags, 16);
            initiator.sendBytes(request);
            assertRefused(initiator, 0x0200);
        }
    }

    @Test
    void shouldAnswerLoginWithoutTaskTag() throws Exception {
        try (var target = new TargetFixture(); var initiator = new RawInitiator(target.server)) {
            byte[] request = login(initiator, LoginStage.OPERATIONAL, true, names());
            Arrays.fill(request, ITT, ITT + 4, (byte) 0xff);
            initiator.sendBytes(request);
            assertRefused(initiator, 0x0200);
        }
    }

    @Test
    void shouldAnswerAnotherRequestAmidLogin() throws Exception {
        try (var target = new TargetFixture(); var initiator = new RawInitiator(target.server)) {
            initiator.sendBytes(login(initiator, LoginStage.OPERATIONAL, false, names()));
            assertThat(initiator.loginAnswer().status()).isZero();
            initiator.send(new NopOut(true, Lun.ZERO, initiator.newTag(), Bhs.NO_TAG,
                    initiator.cmdSn(), 0), new byte[0]);
            assertRefused(initiator, 0x020b);
        }
    }

    @Test
    void shouldAnswerLoginThatTakesTooLong() throws Exception {
        TargetFixture.withTimeout(1_500, 15_000, LenientLoginTest::logInTooSlowly);
    }

    private static void logInTooSlowly(long loginMs) throws Exception {
        try (var target = new TargetFixture(TargetFixture.limits(loginMs, 60_000, 60_000));
                var initiator = new RawInitiator(target.server)) {
            initiator.sendBytes(login(initiator, LoginStage.OPERATIONAL, false, names()));
            assertThat(initiator.loginAnswer().status()).isZero();
            assertRefused(initiator, 0x0301);
        }
    }

    @Test
    void shouldAnswerKeysOfDiscoveryWithValues() throws Exception {
        try (var target = new TargetFixture(); var initiator = new RawInitiator(target.server)) {
            RawInitiator.Login login = initiator.loginWith(RawInitiator.isid(1),
                    "InitiatorName=" + RawInitiator.NAME, "SessionType=Discovery",
                    "AuthMethod=None", "MaxConnections=8", "InitialR2T=No", "ImmediateData=Yes",
                    "MaxBurstLength=262144", "FirstBurstLength=65536", "MaxOutstandingR2T=4",
                    "DataPDUInOrder=Yes", "DataSequenceInOrder=Yes", "ErrorRecoveryLevel=0",
                    "DefaultTime2Wait=2", "DefaultTime2Retain=0", "IFMarker=No", "OFMarker=No");
            assertThat(login.status()).isZero();
            assertThat(login.keys()).contains("MaxConnections=1", "ImmediateData=Yes",
                    "DataPDUInOrder=Yes", "MaxOutstandingR2T=")
                    .doesNotContain("Irrelevant", "Reject", "NotUnderstood");
            assertThat(initiator.sendTargets("All")).contains(RawInitiator.TARGET);
        }
    }
}
