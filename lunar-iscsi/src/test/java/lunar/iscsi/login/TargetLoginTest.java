package lunar.iscsi.login;

import static lunar.iscsi.login.LoginFixture.ACCEPT;
import static lunar.iscsi.login.LoginFixture.ISID;
import static lunar.iscsi.login.LoginFixture.USER;
import static lunar.iscsi.login.LoginFixture.ask;
import static lunar.iscsi.login.LoginFixture.last;
import static lunar.iscsi.login.LoginFixture.names;
import static lunar.iscsi.login.LoginFixture.said;
import static lunar.iscsi.login.LoginFixture.security;
import static lunar.iscsi.login.LoginFixture.target;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lunar.iscsi.LoginStatus;
import lunar.iscsi.login.LoginPolicy.Admission;
import lunar.iscsi.pdu.Isid;
import lunar.iscsi.pdu.LoginStage;
import lunar.iscsi.text.TargetAddress;
import lunar.iscsi.text.TextAssembler;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the target's side of the login, rule by rule. */
class TargetLoginTest {

    @Test
    void shouldLogInWithOneRequest() throws Exception {
        var step = target(ACCEPT.withTargetAlias("shelf")).receive(last(names("InitialR2T=No")));
        assertThat(said(step)).containsExactly("TargetPortalGroupTag=1", "TargetAlias=shelf",
                "InitialR2T=No", "MaxRecvDataSegmentLength=262144");
        var done = (TargetLogin.Complete) step;
        assertThat(done.answer().tsih()).isEqualTo(7);
        assertThat(done.answer().transit()).isTrue();
        assertThat(done.answer().nextStage()).isEqualTo(LoginStage.FULL_FEATURE);
        assertThat(done.result().isid()).isEqualTo(ISID);
        assertThat(done.result().cid()).isEqualTo(3);
        assertThat(done.result().parameters().maxSendDataSegmentLength()).isEqualTo(8192);
        assertThat(done.result().parameters().maxReceiveDataSegmentLength()).isEqualTo(262144);
    }

    /** iSCSI names are compared in lower case (RFC 7143 section 4.2.7.2, RFC 3722). */
    @Test
    void shouldNormalizeNames() {
        var step = target(ACCEPT).receive(last("InitiatorName=iqn.2026-11.org.Lunar:HOST,"
                + "TargetName=iqn.2026-11.org.lunar:Disk,SessionType=Normal"));
        var result = ((TargetLogin.Complete) step).result();
        assertThat(result.initiatorName()).isEqualTo("iqn.2026-11.org.lunar:host");
        assertThat(result.targetName()).contains("iqn.2026-11.org.lunar:disk");
    }

    @Test
    void shouldRejectANameThatIsTooLongInLowerCase() {
        var step = target(ACCEPT).receive(last("InitiatorName=" + "\u0130".repeat(111)
                + ",TargetName=iqn.2026-11.org.lunar:disk,SessionType=Normal"));
        assertFailure(step, LoginStatus.INITIATOR_ERROR, "no iSCSI name");
    }

    @Test
    void shouldKeepTheDefaultsWhereTheOperationalStageIsSkipped() {
        var step = target(ACCEPT).receive(ask(LoginStage.SECURITY, LoginStage.FULL_FEATURE, true,
                false, names("AuthMethod=None")));
        assertThat(((TargetLogin.Complete) step).result().parameters())
                .isEqualTo(OperationalParameters.DEFAULT);
    }

    @Test
    void shouldNegotiateOverSeveralRequests() throws Exception {
        var login = target(ACCEPT);
        var first = login.receive(ask(LoginStage.OPERATIONAL, LoginStage.OPERATIONAL, false, false,
                names("ImmediateData=No")));
        assertThat(first).isInstanceOf(TargetLogin.Respond.class);
        assertThat(said(first)).contains("ImmediateData=No", "MaxRecvDataSegmentLength=262144");
        var second = login.receive(last("MaxConnections=4"));
        assertThat(said(second)).containsExactly("MaxConnections=1");
        assertThat(((TargetLogin.Complete) second).result().parameters().immediateData())
                .isFalse();
    }

    @Test
    void shouldJoinTextAcrossContinuedPdus() throws Exception {
        var login = target(ACCEPT);
        var text = LoginFixture.keys(names("InitialR2T=No")).write();
        var head = login.receive(new LoginAsk(false, true, LoginStage.OPERATIONAL,
                LoginStage.OPERATIONAL, 0, 0, ISID, 0, 3, text.asSlice(0, 20)));
        assertThat(head).isInstanceOf(TargetLogin.Respond.class);
        assertThat(head.answer().text().byteSize()).isZero();
        var tail = login.receive(new LoginAsk(true, false, LoginStage.OPERATIONAL,
                LoginStage.FULL_FEATURE, 0, 0, ISID, 0, 3, text.asSlice(20)));
        assertThat(tail).isInstanceOf(TargetLogin.Complete.class);
        assertThat(said(tail)).contains("InitialR2T=No");
    }

    @Test
    void shouldSpreadLongAnswersByTheContinueBit() throws Exception {
        var login = new TargetLogin(_ -> ACCEPT, LoginFixture.challenges(1),
                new LoginLimits(64, 64 << 10, 2000));
        String unknown = IntStream.range(0, 500).mapToObj(i -> "X-org.lunar." + i + "=1")
                .collect(Collectors.joining(","));
        var head = login.receive(last(names(unknown)));
        assertThat(head).isInstanceOf(TargetLogin.Respond.class);
        assertThat(head.answer().more()).isTrue();
        assertThat(head.answer().transit()).isFalse();
        assertThat(head.answer().text().byteSize()).isEqualTo(8192);
        var assembler = new TextAssembler(1 << 20, 2000);
        assembler.add(head.answer().text(), true);
        TargetLogin.Step step = head;
        while (step.answer().more()) {
            step = login.receive(last(""));
            if (step.answer().more()) {
                assembler.add(step.answer().text(), true);
            }
        }
        assertThat(step).isInstanceOf(TargetLogin.Complete.class);
        assertThat(assembler.add(step.answer().text(), false).orElseThrow().pairs()).hasSize(502);
    }

    @Test
    void shouldRejectTextInTheMiddleOfItsOwn() {
        var login = new TargetLogin(_ -> ACCEPT, LoginFixture.challenges(1),
                new LoginLimits(64, 64 << 10, 2000));
        String unknown = IntStream.range(0, 500).mapToObj(i -> "X-org.lunar." + i + "=1")
                .collect(Collectors.joining(","));
        login.receive(last(names(unknown)));
        assertFailure(login.receive(last("InitialR2T=No")), LoginStatus.INITIATOR_ERROR,
                "in the middle");
    }

    @Test
    void shouldLeaveTheSecurityStageWithoutAuthentication() throws Exception {
        var login = target(ACCEPT);
        var step = login.receive(security(names("AuthMethod=CHAP;None")));
        assertThat(said(step)).containsExactly("TargetPortalGroupTag=1", "AuthMethod=None");
        assertThat(step.answer().transit()).isTrue();
        assertThat(step.answer().nextStage()).isEqualTo(LoginStage.OPERATIONAL);
        assertThat(step.answer().tsih()).isZero();
        assertThat(login.receive(last(""))).isInstanceOf(TargetLogin.Complete.class);
    }

    @Test
    void shouldNotNameAPortalGroupInDiscovery() throws Exception {
        var step = target(ACCEPT)
                .receive(last("InitiatorName=iqn.a:b,SessionType=Discovery,HeaderDigest=None"));
        assertThat(said(step)).containsExactly("HeaderDigest=None",
                "MaxRecvDataSegmentLength=262144");
        var result = ((TargetLogin.Complete) step).result();
        assertThat(result.sessionType()).isEqualTo(SessionType.DISCOVERY);
        assertThat(result.targetName()).isEmpty();
    }

    @Test
    void shouldLetAConnectionJoinASession() throws Exception {
        var session = OperationalParameters.DEFAULT.withMaxSendDataSegmentLength(512);
        var request = new LoginAsk(true, false, LoginStage.OPERATIONAL, LoginStage.FULL_FEATURE, 0,
                0, ISID, 7, 1, LoginFixture
                        .keys(names("HeaderDigest=CRC32C", "MaxConnections=4",
                                "MaxRecvDataSegmentLength=65536"))
                        .write());
        var step = target(ACCEPT.joining(session)).receive(request);
        assertThat(said(step)).contains("HeaderDigest=CRC32C", "MaxConnections=Reject");
        var parameters = ((TargetLogin.Complete) step).result().parameters();
        assertThat(parameters.headerDigest()).isTrue();
        assertThat(parameters.maxConnections()).isEqualTo(1);
        assertThat(parameters.maxSendDataSegmentLength()).isEqualTo(65536);
    }

    // Each status.

    @Test
    void shouldRejectVersionsAboveZero() {
        var request = new LoginAsk(true, false, LoginStage.OPERATIONAL, LoginStage.FULL_FEATURE, 2,
                1, ISID, 0, 3, LoginFixture.keys(names()).write());
        assertFailure(target(ACCEPT).receive(request), LoginStatus.UNSUPPORTED_VERSION,
                "version 1");
    }

    @Test
    void shouldRejectLoginsWithoutNames() {
        assertFailure(target(ACCEPT).receive(last("TargetName=iqn.a:b")),
                LoginStatus.MISSING_PARAMETER, "InitiatorName");
        assertFailure(target(ACCEPT).receive(last("InitiatorName=iqn.a:b")),
                LoginStatus.MISSING_PARAMETER, "TargetName");
        assertFailure(target(ACCEPT).receive(last("")), LoginStatus.MISSING_PARAMETER,
                "InitiatorName");
    }

    @Test
    void shouldRejectUnknownSessionTypes() {
        assertFailure(target(ACCEPT).receive(last("InitiatorName=iqn.a:b,SessionType=Boot")),
                LoginStatus.SESSION_TYPE_NOT_SUPPORTED, "SessionType=Boot");
    }

    @ParameterizedTest
    @EnumSource(value = LoginStatus.class, names = {"AUTHORIZATION_FAILURE", "NOT_FOUND",
            "TARGET_REMOVED", "TOO_MANY_CONNECTIONS", "CANNOT_INCLUDE_IN_SESSION",
            "SESSION_DOES_NOT_EXIST", "SERVICE_UNAVAILABLE", "OUT_OF_RESOURCES"})
    void shouldPassOnWhatThePolicyRefuses(LoginStatus status) {
        var step = target(new Admission.Refuse(status, "because")).receive(last(names()));
        assertFailure(step, status, "because");
    }

    @Test
    void shouldRedirect() throws Exception {
        var address = new TargetAddress("fe80::1", 3261, OptionalInt.of(5));
        var step = target(new Admission.Redirect(address, true)).receive(last(names()));
        assertFailure(step, LoginStatus.MOVED_PERMANENTLY, "[fe80::1]:3261");
        assertThat(said(step)).containsExactly("TargetAddress=[fe80::1]:3261");
        assertFailure(target(new Admission.Redirect(address, false)).receive(last(names())),
                LoginStatus.MOVED_TEMPORARILY, "redirected");
    }

    @Test
    void shouldNotLetAnybodySkipAuthentication() {
        var chap = ACCEPT.withChap(ChapPolicy.of(USER));
        assertFailure(target(chap).receive(last(names())), LoginStatus.AUTHENTICATION_FAILURE,
                "skips authentication");
        assertFailure(target(chap).receive(security(names())), LoginStatus.AUTHENTICATION_FAILURE,
                "skips authentication");
        assertFailure(target(chap).receive(security(names("AuthMethod=None"))),
                LoginStatus.AUTHENTICATION_FAILURE, "AuthMethod=None");
        assertFailure(
                target(chap).receive(ask(LoginStage.SECURITY, LoginStage.FULL_FEATURE, true, false,
                        names())),
                LoginStatus.AUTHENTICATION_FAILURE, "skips");
    }

    @Test
    void shouldNotEndTheSecurityStageInTheMiddleOfChap() throws Exception {
        var login = target(ACCEPT.withChap(ChapPolicy.of(USER)));
        var method = login.receive(security(names("AuthMethod=CHAP;None")));
        assertThat(said(method)).contains("AuthMethod=CHAP");
        assertThat(method.answer().transit()).isFalse();
        var challenge = login.receive(security("CHAP_A=7"));
        assertThat(challenge.answer().transit()).isFalse();
        assertThat(said(challenge).getFirst()).isEqualTo("CHAP_A=7");
        assertFailure(login.receive(last("")), LoginStatus.INITIATOR_ERROR, "stage OPERATIONAL");
    }

    @Test
    void shouldRejectAuthenticationThatNobodyNeeds() {
        assertFailure(target(ACCEPT).receive(security(names("AuthMethod=CHAP"))),
                LoginStatus.AUTHENTICATION_FAILURE, "the target requires None");
    }

    @Test
    void shouldEndForReasonsOutsideTheProtocol() {
        var fail = target(ACCEPT).fail(LoginStatus.INVALID_DURING_LOGIN, "SCSI Command");
        assertFailure(fail, LoginStatus.INVALID_DURING_LOGIN, "SCSI Command");
    }

    @Test
    void shouldAcceptTheMethodInTheOperationalStageWhereNoneIsRequested() throws Exception {
        var login = target(ACCEPT);
        var step = login.receive(last(names("AuthMethod=CHAP;None", "InitialR2T=No")));
        assertThat(step).isInstanceOf(TargetLogin.Complete.class);
        assertThat(said(step)).contains("AuthMethod=None", "InitialR2T=No");
        assertThat(login.tolerated()).hasValueSatisfying(
                what -> assertThat(what).contains("AuthMethod"));

        var plain = target(ACCEPT);
        plain.receive(last(names()));
        assertThat(plain.tolerated()).isEmpty();
    }

    @Test
    void shouldNotTreatAuthMethodInTheOperationalStageAsAuthentication() {
        assertFailure(target(ACCEPT.withChap(ChapPolicy.of(USER)))
                .receive(last(names("AuthMethod=None"))), LoginStatus.AUTHENTICATION_FAILURE,
                "skips authentication");
        assertFailure(target(ACCEPT).receive(last(names("AuthMethod=CHAP"))),
                LoginStatus.AUTHENTICATION_FAILURE, "the target requires None");
    }

    // Errors of the initiator.

    @ParameterizedTest
    @ValueSource(strings = {"CHAP_A=5", "TargetAlias=a",
            "TargetPortalGroupTag=1",
            "HeaderDigest=Reject", "MaxRecvDataSegmentLength=511",
            "MaxRecvDataSegmentLength=16777216", "MaxRecvDataSegmentLength=many",
            "InitialR2T=Irrelevant", "MaxBurstLength=NotUnderstood"})
    void shouldRejectKeysThatBreakTheRules(String pair) {
        assertFailure(target(ACCEPT).receive(last(names(pair))), LoginStatus.INITIATOR_ERROR,
                pair.substring(0, pair.indexOf('=')));
    }

    @Test
    void shouldRejectOperationalKeysInTheSecurityStage() {
        assertFailure(target(ACCEPT).receive(security(names("MaxBurstLength=512"))),
                LoginStatus.INITIATOR_ERROR, "in the security stage");
    }

    @Test
    void shouldRejectRepeatedKeys() {
        assertFailure(target(ACCEPT).receive(last(names("InitialR2T=No", "InitialR2T=No"))),
                LoginStatus.INITIATOR_ERROR, "InitialR2T was sent before");
        var login = target(ACCEPT);
        login.receive(ask(LoginStage.OPERATIONAL, LoginStage.OPERATIONAL, false, false,
                names("MaxBurstLength=512")));
        assertFailure(login.receive(last("MaxBurstLength=512")), LoginStatus.INITIATOR_ERROR,
                "MaxBurstLength was sent before");
    }

    @Test
    void shouldRejectNamesAfterTheFirstRequest() {
        var login = target(ACCEPT);
        login.receive(ask(LoginStage.OPERATIONAL, LoginStage.OPERATIONAL, false, false,
                "InitiatorName=iqn.a:b,TargetName=iqn.a:t"));
        assertFailure(login.receive(last("SessionType=Discovery")), LoginStatus.INITIATOR_ERROR,
                "SessionType after the first request");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "x\u007f"})
    void shouldRejectInvalidNames(String name) {
        assertFailure(target(ACCEPT).receive(last("InitiatorName=" + name)),
                LoginStatus.INITIATOR_ERROR, "no iSCSI name");
    }

    @Test
    void shouldRejectChangedIdentifiers() {
        var login = target(ACCEPT);
        login.receive(security(names()));
        var other = new LoginAsk(true, false, LoginStage.OPERATIONAL, LoginStage.FULL_FEATURE, 0, 0,
                Isid.random(9, 9), 0, 3, MemorySegment.NULL);
        assertFailure(login.receive(other), LoginStatus.INITIATOR_ERROR, "ISID");
    }

    @Test
    void shouldRejectStagesOutOfOrder() {
        assertFailure(
                target(ACCEPT).receive(ask(LoginStage.FULL_FEATURE, LoginStage.FULL_FEATURE, false,
                        false, names())),
                LoginStatus.INITIATOR_ERROR, "stage");
        assertFailure(
                target(ACCEPT).receive(ask(LoginStage.OPERATIONAL, LoginStage.SECURITY, true,
                        false, names())),
                LoginStatus.INITIATOR_ERROR, "no transition");
        assertFailure(
                target(ACCEPT).receive(ask(LoginStage.OPERATIONAL, LoginStage.FULL_FEATURE, true,
                        true, names())),
                LoginStatus.INITIATOR_ERROR, "in the middle of a text");
        var login = target(ACCEPT);
        login.receive(security(names()));
        assertFailure(login.receive(security("")), LoginStatus.INITIATOR_ERROR, "stage");
    }

    @Test
    void shouldRejectTooManyRequests() {
        var login = target(ACCEPT);
        TargetLogin.Step step = login.receive(ask(LoginStage.OPERATIONAL, LoginStage.OPERATIONAL,
                false, false, names()));
        int requests = 1;
        while (step instanceof TargetLogin.Respond) {
            step = login.receive(
                    ask(LoginStage.OPERATIONAL, LoginStage.OPERATIONAL, false, false, ""));
            requests++;
        }
        assertThat(requests).isEqualTo(LoginLimits.DEFAULT.turns() + 1);
        assertFailure(step, LoginStatus.INITIATOR_ERROR, "more than 64 requests");
    }

    @Test
    void shouldRejectTooMuchText() {
        var login = target(ACCEPT);
        TargetLogin.Step step;
        do {
            step = login.receive(new LoginAsk(false, true, LoginStage.SECURITY, LoginStage.SECURITY,
                    0, 0, ISID, 0, 3, MemorySegment.ofArray(new byte[8192])));
        } while (step instanceof TargetLogin.Respond);
        assertFailure(step, LoginStatus.INITIATOR_ERROR, "bytes of text");
    }

    @Test
    void shouldRejectBrokenText() {
        var request = new LoginAsk(true, false, LoginStage.OPERATIONAL, LoginStage.FULL_FEATURE, 0,
                0, ISID, 0, 3, MemorySegment.ofArray(new byte[]{'A', 0}));
        assertFailure(target(ACCEPT).receive(request), LoginStatus.INITIATOR_ERROR,
                "no key=value");
    }

    static void assertFailure(TargetLogin.Step step, LoginStatus status, String reason) {
        assertThat(step).isInstanceOfSatisfying(TargetLogin.Fail.class, fail -> {
            assertThat(fail.status()).as(fail.reason()).isEqualTo(status);
            assertThat(fail.reason()).contains(reason);
            assertThat(fail.answer().statusClass()).isEqualTo(status.statusClass());
            assertThat(fail.answer().statusDetail()).isEqualTo(status.detail());
            assertThat(fail.answer().transit()).isFalse();
        });
    }
}
