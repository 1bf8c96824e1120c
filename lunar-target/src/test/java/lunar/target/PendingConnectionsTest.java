package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import lunar.iscsi.pdu.LoginRequest;
import lunar.iscsi.pdu.LoginStage;
import lunar.target.internal.session.Origin;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that connections that do not log in never prevent others from doing so. */
class PendingConnectionsTest {
    /** Of which 64 may be pending, and 16 of one address. */
    private static final ServerLimits LIMITS = TargetFixture.LIMITS.withMaxConnections(100);
    private static final int FLOOD = 200;

    private final TargetFixture target;
    private final List<RawInitiator> opened = new ArrayList<>();

    PendingConnectionsTest() throws IOException { target = new TargetFixture(LIMITS); }

    @AfterEach
    void close() throws IOException {
        for (RawInitiator each : opened) {
            each.close();
        }
        target.close();
    }

    private RawInitiator open(String address) throws IOException {
        var initiator = RawInitiator.from(address, target.server);
        opened.add(initiator);
        return initiator;
    }

    private void logIn(String address, int isid) throws IOException {
        assertThat(open(address).login(RawInitiator.isid(isid)).status()).isZero();
    }

    @Test
    void shouldAdmitLoginsDespiteSilentConnectionsOfTheSameAddress() throws Exception {
        for (int i = 0; i < FLOOD; i++) {
            open("127.0.0.1");
            if (i % 20 == 0) {
                logIn("127.0.0.1", i);
            }
        }
        assertThat(target.server.sessionCount()).isEqualTo(FLOOD / 20);
        TargetFixture.await("the others are closed", () -> target.server
                .connectionCount() <= FLOOD / 20 + LIMITS.maxPendingOfOrigin());
    }

    @Test
    void shouldAdmitLoginsDespiteSilentConnectionsOfManyAddresses() throws Exception {
        for (int i = 0; i < FLOOD; i++) {
            open("127.0.1." + (i % 250 + 1));
            if (i % 20 == 0) {
                logIn("127.0.0.1", i);
            }
        }
        assertThat(target.server.sessionCount()).isEqualTo(FLOOD / 20);
        TargetFixture.await("the others are closed", () -> target.server
                .connectionCount() <= FLOOD / 20 + LIMITS.maxPendingConnections());
    }

    @Test
    void shouldNotEndASlowLoginForAFloodFromElsewhere() throws Exception {
        RawInitiator slow = open("127.0.0.1");
        send(slow, false);
        assertThat(slow.loginAnswer().status()).isZero();
        for (int i = 0; i < FLOOD; i++) {
            open("127.0.0." + (i % 10 + 2));
        }
        logIn("127.0.0.2", 2); // behind all of them
        send(slow, true);
        assertThat(slow.loginAnswer().status()).isZero();
        assertThat(target.server.sessionCount()).isEqualTo(2);
    }

    @Test
    void shouldAnswerALoginThatItEndsForNewerConnections() throws Exception {
        RawInitiator slow = open("127.0.0.1");
        send(slow, false);
        assertThat(slow.loginAnswer().status()).isZero();
        for (int i = 0; i < LIMITS.maxPendingOfOrigin(); i++) {
            open("127.0.0.1");
        }
        assertThat(slow.loginAnswer().status()).isEqualTo(0x302);
        assertThat(slow.isClosedByTarget()).isTrue();
    }

    /** A request of a login, the last one or not. */
    private static void send(RawInitiator initiator, boolean last) throws IOException {
        String keys = last
                ? ""
                : "InitiatorName=iqn.2026-11.org.host:slow\0TargetName=" + RawInitiator.TARGET
                        + "\0SessionType=Normal\0";
        initiator.send(new LoginRequest(last, false, LoginStage.OPERATIONAL,
                last ? LoginStage.FULL_FEATURE : LoginStage.OPERATIONAL, 0, 0, RawInitiator.isid(1),
                0, 1, 1, 1, 0), keys.getBytes());
    }

    @Test
    void shouldCountDiscoverySessionsAmongThem() throws Exception {
        for (int i = 0; i < FLOOD; i++) {
            assertThat(open("127.0.0.1").loginWith(RawInitiator.isid(i),
                    "InitiatorName=iqn.2026-11.org.host:curious", "SessionType=Discovery").status())
                    .isZero();
        }
        logIn("127.0.0.1", 1);
        TargetFixture.await("the others are closed", () -> target.server
                .connectionCount() <= 1 + LIMITS.maxPendingOfOrigin());
    }

    @Test
    void shouldRejectOneMoreThanItMayHaveWhenAllAreLoggedIn() throws Exception {
        for (int i = 0; i < LIMITS.maxConnections(); i++) {
            logIn("127.0.0." + (i % 2 + 1), i);
        }
        assertThat(open("127.0.0.1").login(RawInitiator.isid(FLOOD)).status()).isEqualTo(0x302);
        opened.getFirst().close();
        TargetFixture.await("the end of one",
                () -> target.server.sessionCount() < LIMITS.maxConnections());
        target.logInOnceThereIsPlace("127.0.0.1", FLOOD);
    }

    @Test
    void shouldTreatAnIpv6PrefixAsOneHost() throws Exception {
        assertThat(Origin.of(InetAddress.getByName("2001:db8::1")))
                .isEqualTo(Origin.of(InetAddress.getByName("2001:db8::ffff:0:2")))
                .isNotEqualTo(Origin.of(InetAddress.getByName("2001:db8:0:1::1")))
                .hasToString("2001:db8:0:0:0:0:0:0/64");
        assertThat(Origin.of(InetAddress.getByName("192.0.2.1")))
                .isNotEqualTo(Origin.of(InetAddress.getByName("192.0.2.2")));
    }
}
