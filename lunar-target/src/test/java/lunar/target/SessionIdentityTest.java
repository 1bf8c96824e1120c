package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalInt;
import lunar.iscsi.LoginStatus;
import lunar.iscsi.login.LoginAsk;
import lunar.iscsi.login.LoginResult;
import lunar.iscsi.login.TargetLogin;
import lunar.iscsi.pdu.Isid;
import lunar.iscsi.pdu.LoginRequest;
import lunar.iscsi.pdu.LoginStage;
import lunar.target.internal.session.Session;
import org.junit.jupiter.api.Test;

/** Tests which session a login creates, joins or replaces, and that the request must name it. */
class SessionIdentityTest {
    private static final String ALICE = "iqn.2026-11.org.host:alice";
    private static final String BOB = "iqn.2026-11.org.host:bob";
    private static final Isid ISID = RawInitiator.isid(1);
    private static final int NO_SESSION = 0x20a;
    private static final int TSIHS = 0xffff;

    @Test
    void shouldNotJoinALoginToTheSessionOfAnother() throws Exception {
        try (var target = new TargetFixture();
                var slow = new RawInitiator(target.server);
                var quick = new RawInitiator(target.server)) {
            begin(slow, ALICE, 0, "Normal");
            assertThat(slow.loginAnswer().status()).isZero();
            // As many logins begin meanwhile as there are numbers: the next is given that of the slow one.
            for (int i = 0; i < TSIHS - 1; i++) {
                beginUnseen(target.server);
            }
            assertThat(quick.loginAs(BOB, RawInitiator.TARGET).status()).isZero();
            finish(slow, 0);
            assertThat(slow.loginAnswer().status()).isZero();

            assertThat(target.server.sessionCount()).isEqualTo(2);
            assertThat(slow.tsih()).isNotEqualTo(quick.tsih());
        }
    }

    @Test
    void shouldNotCreateASessionForALoginThatNamesAnEndedOne() throws Exception {
        try (var target = new TargetFixture();
                var first = new RawInitiator(target.server);
                var joining = new RawInitiator(target.server)) {
            assertThat(first.loginWith(ISID, "InitiatorName=" + ALICE,
                    "TargetName=" + RawInitiator.TARGET, "SessionType=Normal", "MaxConnections=2")
                    .status()).isZero();
            begin(joining, ALICE, first.tsih(), "Normal");
            assertThat(joining.loginAnswer().status()).isZero();
            first.close();
            TargetFixture.await("the session ends", () -> target.server.sessionCount() == 0);

            finish(joining, first.tsih());
            assertThat(joining.loginAnswer().status()).isEqualTo(NO_SESSION);
            assertThat(joining.isClosedByTarget()).isTrue();
            assertThat(target.server.sessionCount()).isZero();
        }
    }

    @Test
    void shouldNotAddConnectionsToDiscoverySessions() throws Exception {
        try (var target = new TargetFixture();
                var discovery = new RawInitiator(target.server)) {
            begin(discovery, ALICE, 1, "Discovery");
            assertThat(discovery.loginAnswer().status()).isEqualTo(NO_SESSION);
        }
    }

    @Test
    void shouldLetOnlyTheInitiatorPortOfASessionJoinIt() throws Exception {
        try (var target = new TargetFixture();
                var first = new RawInitiator(target.server)) {
            assertThat(first.login(ISID, "MaxConnections=2").status()).isZero();
            Session session = target.server.shared().sessions().find(first.tsih());
            assertThat(session).isNotNull();
            LoginResult own = session.login();

            assertThat(session.refusal(like(own, own.initiatorName(), RawInitiator.TARGET, ISID, 1,
                    Optional.empty()))).isEmpty();
            assertThat(session.refusal(like(own, BOB, RawInitiator.TARGET, ISID, 1,
                    Optional.empty()))).contains(LoginStatus.SESSION_DOES_NOT_EXIST);
            assertThat(session.refusal(like(own, own.initiatorName(), "iqn.2026-11.org.lunar:other",
                    ISID, 1, Optional.empty()))).contains(LoginStatus.SESSION_DOES_NOT_EXIST);
            assertThat(session.refusal(like(own, own.initiatorName(), RawInitiator.TARGET,
                    RawInitiator.isid(2), 1, Optional.empty())))
                    .contains(LoginStatus.SESSION_DOES_NOT_EXIST);
            assertThat(session.refusal(like(own, own.initiatorName(), RawInitiator.TARGET, ISID, 2,
                    Optional.empty()))).contains(LoginStatus.CANNOT_INCLUDE_IN_SESSION);
            assertThat(session.refusal(like(own, own.initiatorName(), RawInitiator.TARGET, ISID, 1,
                    Optional.of("another user")))).contains(LoginStatus.AUTHORIZATION_FAILURE);
        }
    }

    /** Returns a login of a second connection by another applicant. */
    private static LoginResult like(LoginResult login, String initiator, String target, Isid isid,
            int group, Optional<String> chapUser) {
        return new LoginResult(login.parameters(), initiator, login.initiatorAlias(),
                login.sessionType(), Optional.of(target), login.targetAlias(),
                OptionalInt.of(group), isid,
                login.tsih(), 1, chapUser);
    }

    @Test
    void shouldNotReuseTsihsOfOpenDiscoverySessions() throws Exception {
        try (var target = new TargetFixture();
                var discovery = new RawInitiator(target.server);
                var normal = new RawInitiator(target.server)) {
            assertThat(discovery.loginWith(ISID, "InitiatorName=" + ALICE, "SessionType=Discovery")
                    .status()).isZero();
            for (int i = 0; i < TSIHS - 1; i++) {
                beginUnseen(target.server);
            }
            assertThat(normal.loginAs(ALICE, RawInitiator.TARGET).status()).isZero();
            assertThat(normal.tsih()).isNotEqualTo(discovery.tsih());
        }
    }

    /** The first request of a login, which leaves the negotiation open. */
    private static void begin(RawInitiator initiator, String name, int tsih, String type)
            throws IOException {
        initiator.send(
                new LoginRequest(false, false, LoginStage.OPERATIONAL, LoginStage.OPERATIONAL, 0, 0,
                        ISID, tsih, 1, 1, 1, 0),
                keys(name, type));
    }

    private static void finish(RawInitiator initiator, int tsih) throws IOException {
        initiator.send(
                new LoginRequest(true, false, LoginStage.OPERATIONAL, LoginStage.FULL_FEATURE, 0, 0,
                        ISID, tsih, 1, 1, 1, 0),
                new byte[0]);
    }

    private static byte[] keys(String name, String type) {
        return ("InitiatorName=" + name + "\0TargetName=" + RawInitiator.TARGET + "\0SessionType="
                + type + "\0").getBytes(StandardCharsets.UTF_8);
    }

    /** Begins a login on a connection without a socket, of which there can be many. */
    private static void beginUnseen(TargetServer server) {
        TargetLogin login = server.shared().newLogin(server.shared().portals().all().getFirst(),
                new ManualTransport(), _ -> {});
        assertThat(login.receive(new LoginAsk(false, false, LoginStage.OPERATIONAL,
                LoginStage.OPERATIONAL, 0, 0, ISID, 0, 1,
                MemorySegment.ofArray(keys(BOB, "Normal")))))
                .isInstanceOf(TargetLogin.Respond.class);
    }
}
