package lunar.iscsi.login;

import static lunar.iscsi.login.LoginFixture.INITIATOR;
import static lunar.iscsi.login.LoginFixture.ISID;
import static lunar.iscsi.login.LoginFixture.OWN;
import static lunar.iscsi.login.LoginFixture.TARGET;
import static lunar.iscsi.login.LoginFixture.USER;
import static lunar.iscsi.login.LoginFixture.answer;
import static lunar.iscsi.login.LoginFixture.refusal;
import static lunar.iscsi.login.LoginFixture.said;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.OptionalInt;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.login.InitiatorLogin.Settings;
import lunar.iscsi.pdu.LoginStage;
import lunar.iscsi.text.TargetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the initiator's side of the login, rule by rule. */
class InitiatorLoginTest {
    private static final Settings NORMAL = Settings.normal(INITIATOR, TARGET, ISID, Offer.DEFAULT);

    /** Right answers to everything that is offered by default, but for those that may be left out. */
    private static final String ANSWERS = "TargetPortalGroupTag=1,HeaderDigest=None,DataDigest=None,"
            + "MaxConnections=1,InitialR2T=No,ImmediateData=Yes,MaxBurstLength=262144,"
            + "FirstBurstLength=65536,DefaultTime2Wait=2,DefaultTime2Retain=0,MaxOutstandingR2T=1,"
            + "ErrorRecoveryLevel=0,MaxRecvDataSegmentLength=65536";

    @Test
    void shouldStartInTheOperationalStageWithoutCredentials() throws Exception {
        var ask = login(NORMAL.withInitiatorAlias("host")).first();
        assertThat(ask.stage()).isEqualTo(LoginStage.OPERATIONAL);
        assertThat(ask.nextStage()).isEqualTo(LoginStage.FULL_FEATURE);
        assertThat(ask.transit()).isTrue();
        assertThat(said(ask.text())).startsWith("InitiatorName=" + INITIATOR,
                "InitiatorAlias=host", "TargetName=" + TARGET, "SessionType=Normal",
                "HeaderDigest=None,CRC32C")
                .contains("InitialR2T=No", "MaxBurstLength=1048576", "FirstBurstLength=262144",
                        "MaxRecvDataSegmentLength=262144");
    }

    @Test
    void shouldOfferNothingIrrelevantInDiscovery() throws Exception {
        var ask = login(Settings.discovery(INITIATOR, ISID, Offer.DEFAULT)).first();
        assertThat(said(ask.text())).containsExactly("InitiatorName=" + INITIATOR,
                "SessionType=Discovery", "HeaderDigest=None,CRC32C", "DataDigest=None,CRC32C",
                "DefaultTime2Wait=0", "DefaultTime2Retain=20", "ErrorRecoveryLevel=0",
                "MaxRecvDataSegmentLength=262144");
    }

    @Test
    void shouldStartInTheSecurityStageWithCredentials() throws Exception {
        var ask = login(NORMAL.withChap(USER)).first();
        assertThat(ask.stage()).isEqualTo(LoginStage.SECURITY);
        assertThat(said(ask.text())).endsWith("AuthMethod=CHAP,None");
        assertThat(said(login(NORMAL.withMutualChap(USER, OWN)).first().text()))
                .endsWith("AuthMethod=CHAP");
    }

    /** tgtd looks for the session to reinstate in the security stage alone. */
    @Test
    void shouldPassTheSecurityStageWithoutCredentialsWhereAllStagesAreWanted() throws Exception {
        var login = login(NORMAL.withAllStages());
        var ask = login.first();
        assertThat(ask.stage()).isEqualTo(LoginStage.SECURITY);
        assertThat(ask.nextStage()).isEqualTo(LoginStage.OPERATIONAL);
        assertThat(ask.transit()).isTrue();
        assertThat(said(ask.text())).endsWith("SessionType=Normal", "AuthMethod=None");
        var next = (InitiatorLogin.Send) login.receive(answer(LoginStage.SECURITY, true, 0,
                "AuthMethod=None"));
        assertThat(next.ask().stage()).isEqualTo(LoginStage.OPERATIONAL);
        assertThat(login.receive(answer(LoginStage.OPERATIONAL, true, 9, ANSWERS)))
                .isInstanceOf(InitiatorLogin.Complete.class);
        assertThat(LoginFixture.talk(login(NORMAL.withAllStages()),
                LoginFixture.target(LoginFixture.ACCEPT)).initiator())
                .isInstanceOf(InitiatorLogin.Complete.class);
    }

    @Test
    void shouldFailIfATargetRequiresAuthentication() {
        var login = login(NORMAL.withAllStages());
        var _ = login.first();
        assertThat(login.receive(answer(LoginStage.SECURITY, true, 0, "AuthMethod=Reject")))
                .isInstanceOfSatisfying(InitiatorLogin.Fail.class,
                        fail -> assertThat(fail.failure()).hasMessageContaining("CHAP"));
    }

    @Test
    void shouldAskOnlyForItsOwnConnectionWhenItJoinsASession() throws Exception {
        var leading = complete(ANSWERS);
        var ask = login(NORMAL.joining(leading, 1)).first();
        assertThat(ask.tsih()).isEqualTo(9);
        assertThat(ask.cid()).isEqualTo(1);
        assertThat(said(ask.text())).containsExactly("InitiatorName=" + INITIATOR,
                "TargetName=" + TARGET, "SessionType=Normal", "HeaderDigest=None,CRC32C",
                "DataDigest=None,CRC32C", "MaxRecvDataSegmentLength=262144");
    }

    @Test
    void shouldUseTheValuesOfTheTargetsResponse() {
        var result = complete(ANSWERS + ",TargetAlias=shelf");
        var parameters = result.parameters();
        assertThat(parameters.maxSendDataSegmentLength()).isEqualTo(65536);
        assertThat(parameters.maxReceiveDataSegmentLength()).isEqualTo(262144);
        assertThat(parameters.maxBurstLength()).isEqualTo(262144);
        assertThat(parameters.firstBurstLength()).isEqualTo(65536);
        assertThat(parameters.dataPduInOrder()).isTrue();
        assertThat(parameters.initialR2t()).isFalse();
        assertThat(result.tsih()).isEqualTo(9);
        assertThat(result.targetAlias()).contains("shelf");
        assertThat(result.portalGroupTag()).hasValue(1);
    }

    @Test
    void shouldKeepTheDefaultOfWhatTheTargetDeclines() {
        var parameters = complete(ANSWERS.replace("InitialR2T=No", "InitialR2T=Reject")
                .replace("MaxOutstandingR2T=1", "MaxOutstandingR2T=NotUnderstood")).parameters();
        assertThat(parameters.initialR2t()).isTrue();
        assertThat(parameters.maxOutstandingR2t()).isEqualTo(1);
    }

    @Test
    void shouldAnswerWhatTheTargetProposes() throws Exception {
        var offer = Offer.DEFAULT.withIser(
                new Offer.Iser(65536, 32768, 8, 0, false, false));
        var login = login(Settings.normal(INITIATOR, TARGET, ISID, offer));
        login.first();
        var step = login.receive(answer(LoginStage.OPERATIONAL, false, 0,
                "RDMAExtensions=Yes,TaskReporting=FastAbort;RFC3720,X-org.a=1,IFMarker=Yes"));
        assertThat(step).isInstanceOfSatisfying(InitiatorLogin.Send.class, send -> {
            assertThat(send.ask().transit()).isTrue();
            assertThat(pairs(send)).containsExactly("TaskReporting=RFC3720",
                    "X-org.a=NotUnderstood", "IFMarker=No");
        });
    }

    private static List<String> pairs(InitiatorLogin.Send send) {
        try {
            return LoginFixture.said(send.ask().text());
        } catch (ProtocolException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldSendEmptyRequestsWhileTheTargetContinues() throws Exception {
        var login = login(NORMAL);
        login.first();
        var text = LoginFixture.keys(ANSWERS).write();
        var step = login.receive(new LoginAnswer(false, true, LoginStage.OPERATIONAL,
                LoginStage.OPERATIONAL, 0, 0, ISID, 0, 0, 0, text.asSlice(0, 100)));
        assertThat(step).isInstanceOfSatisfying(InitiatorLogin.Send.class,
                send -> assertThat(send.ask().text().byteSize()).isZero());
        assertThat(login.receive(new LoginAnswer(true, false, LoginStage.OPERATIONAL,
                LoginStage.FULL_FEATURE, 0, 0, ISID, 9, 0, 0, text.asSlice(100))))
                .isInstanceOf(InitiatorLogin.Complete.class);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"MaxBurstLength=262144|MaxBurstLength=2097152",
            "MaxBurstLength=262144|MaxBurstLength=511", "MaxBurstLength=262144|MaxBurstLength=big",
            "MaxBurstLength=262144|MaxBurstLength=1024", "DefaultTime2Wait=2|DefaultTime2Wait=-1",
            "DefaultTime2Retain=0|DefaultTime2Retain=21",
            "HeaderDigest=None|HeaderDigest=SHA", "HeaderDigest=None|HeaderDigest=None;CRC32C",
            "ImmediateData=Yes|ImmediateData=Maybe", "ErrorRecoveryLevel=0|ErrorRecoveryLevel=1",
            "MaxConnections=1|MaxConnections=2", "DataDigest=None|DataDigest=None,DataDigest=None",
            "DataDigest=None|DataDigest=None,InitiatorName=a",
            "DataDigest=None|DataDigest=None,AuthMethod=None",
            "MaxRecvDataSegmentLength=65536|MaxRecvDataSegmentLength=1",
            "DataDigest=None|DataDigest=None,TaskReporting=RFC3720"})
    void shouldRejectAnswersThatBreakTheRules(String right, String wrong) {
        var step = completing(ANSWERS.replace(right, wrong));
        assertFailure(step, "login to " + TARGET + ": ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"HeaderDigest=None,", "InitialR2T=No,", "MaxBurstLength=262144,",
            "ErrorRecoveryLevel=0,"})
    void shouldRejectToContinueWithoutAnAnswer(String left) {
        assertFailure(completing(ANSWERS.replace(left, "")), "did not answer");
    }

    @Test
    void shouldRejectATargetWithoutTheDigestItWants() {
        var offer = Offer.DEFAULT.withHeaderDigest(DigestChoice.REQUIRE_CRC32C);
        for (String answer : new String[]{"HeaderDigest=None", "HeaderDigest=Reject",
                "HeaderDigest=NotUnderstood"}) {
            var login = login(Settings.normal(INITIATOR, TARGET, ISID, offer));
            login.first();
            assertFailure(login.receive(answer(LoginStage.OPERATIONAL, true, 9,
                    ANSWERS.replace("HeaderDigest=None", answer))), "HeaderDigest");
        }
    }

    @Test
    void shouldRejectTransitionsThatItDidNotRequest() {
        var login = login(NORMAL.withChap(USER));
        login.first();
        assertFailure(login.receive(new LoginAnswer(true, false, LoginStage.SECURITY,
                LoginStage.FULL_FEATURE, 0, 0, ISID, 9, 0, 0, MemorySegment.NULL)),
                "was not requested");
        var early = login(NORMAL.withChap(USER));
        early.first();
        assertFailure(early.receive(answer(LoginStage.SECURITY, true, 0, "AuthMethod=CHAP")),
                "before authentication is complete");
        var stage = login(NORMAL);
        stage.first();
        assertFailure(stage.receive(answer(LoginStage.SECURITY, false, 0, "")), "stage SECURITY");
    }

    @Test
    void shouldAcceptASessionWithoutTsihIfUnneeded() {
        var login = login(NORMAL);
        login.first();
        assertThat(login.receive(answer(LoginStage.OPERATIONAL, true, 0, ANSWERS)))
                .isInstanceOfSatisfying(InitiatorLogin.Complete.class,
                        complete -> assertThat(complete.result().tsih()).isZero());
    }

    @Test
    void shouldRejectAnotherHandleThanThatOfTheSessionToJoin() {
        var leading = login(NORMAL);
        leading.first();
        var made = (InitiatorLogin.Complete) leading
                .receive(answer(LoginStage.OPERATIONAL, true, 9, ANSWERS));
        for (int tsih : new int[]{0, 8}) {
            var login = login(NORMAL.joining(made.result(), 1));
            login.first();
            assertFailure(login.receive(answer(LoginStage.OPERATIONAL, true, tsih,
                    "HeaderDigest=None,DataDigest=None,MaxRecvDataSegmentLength=65536")),
                    "TSIH " + tsih);
        }
    }

    @Test
    void shouldRejectOtherVersions() {
        var login = login(NORMAL);
        login.first();
        assertFailure(login.receive(new LoginAnswer(true, false, LoginStage.OPERATIONAL,
                LoginStage.FULL_FEATURE, 1, 1, ISID, 9, 0, 0, MemorySegment.NULL)), "version 1");
    }

    @Test
    void shouldFollowRedirections() {
        var login = login(NORMAL);
        login.first();
        assertThat(login.receive(refusal(1, 2, "TargetAddress=[2001:db8::1]")))
                .isEqualTo(new InitiatorLogin.Redirected(new TargetAddress("2001:db8::1", 3260,
                        OptionalInt.empty()), true));
        assertThat(login.receive(refusal(1, 1, "TargetAddress=san.example:3261")))
                .isInstanceOfSatisfying(InitiatorLogin.Redirected.class,
                        moved -> assertThat(moved.permanent()).isFalse());
        assertFailure(login.receive(refusal(1, 1, "")), "gives no new address");
        assertFailure(login.receive(refusal(1, 1, "TargetAddress=a:b")), "TargetAddress=a:b");
    }

    @Test
    void shouldReportWhyTheTargetRejected() {
        var login = login(NORMAL);
        login.first();
        assertFailure(login.receive(refusal(2, 1, "")), "specify a user and a secret");
        assertFailure(login(NORMAL.withChap(USER)).receive(refusal(2, 1, "")),
                "check the CHAP user");
        assertFailure(login.receive(refusal(2, 3, "")), "no such target");
        assertFailure(login.receive(refusal(3, 9, "")), "[0309]");
    }

    @Test
    void shouldRejectEndlessLogins() {
        var login = login(NORMAL);
        login.first();
        InitiatorLogin.Step step;
        do {
            step = login.receive(answer(LoginStage.OPERATIONAL, false, 0, ""));
        } while (step instanceof InitiatorLogin.Send);
        assertFailure(step, "more than 64 responses");
    }

    @Test
    void shouldRejectUnusableSettings() {
        assertThatThrownBy(() -> NORMAL.withMutualChap(USER,
                new ChapCredentials("writer", Secret.of("secret-of-reader"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("different secrets");
        assertThatThrownBy(() -> Settings.normal("", TARGET, ISID, Offer.DEFAULT))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Offer.DEFAULT.withBurstLengths(1024, 512))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Offer.DEFAULT.withMaxConnections(0))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static InitiatorLogin login(Settings settings) {
        return new InitiatorLogin(settings, LoginFixture.challenges(2));
    }

    private static InitiatorLogin.Step completing(String answers) {
        var login = login(NORMAL);
        login.first();
        return login.receive(answer(LoginStage.OPERATIONAL, true, 9, answers));
    }

    private static LoginResult complete(String answers) {
        return ((InitiatorLogin.Complete) completing(answers)).result();
    }

    private static void assertFailure(InitiatorLogin.Step step, String reason) {
        assertThat(step).isInstanceOfSatisfying(InitiatorLogin.Fail.class,
                fail -> assertThat(fail.failure()).hasMessageContaining(reason));
    }
}
