package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import lunar.target.internal.session.Session;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the connection limit per address; a connection that replaces another one needs no free slot. */
class AddressShareTest {
    private static final int OUT_OF_RESOURCES = 0x0302;
    private static final int SHARE = 2;
    private static final ServerLimits LIMITS = TargetFixture.LIMITS.withMaxConnections(2 * SHARE)
            .withMaxConnectionsPerAddress(SHARE);
    private static final String SEVERAL = "MaxConnections=8";
    private static final String RECOVERY = "ErrorRecoveryLevel=2";
    private static final String RETAIN = "DefaultTime2Retain=20";

    private final TargetFixture target;
    private final List<RawInitiator> opened = new ArrayList<>();

    AddressShareTest() throws IOException { target = new TargetFixture(LIMITS); }

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

    private int login(String address, int isid, String... keys) throws IOException {
        return open(address).login(RawInitiator.isid(isid), keys).status();
    }

    /** Opens another connection of a session, or reinstates one; returns the status of its login. */
    private int join(RawInitiator first, int isid, int cid) throws IOException {
        RawInitiator joining = first.another(target.server, RawInitiator.isid(isid), cid);
        opened.add(joining);
        return joining.loginAnswer().status();
    }

    @Test
    void shouldLeaveRoomForOtherAddresses() throws Exception {
        for (int i = 0; i < SHARE; i++) {
            assertThat(login("127.0.0.1", i)).isZero();
        }
        for (int i = SHARE; i < 3 * SHARE; i++) {
            assertThat(login("127.0.0.1", i)).isEqualTo(OUT_OF_RESOURCES);
        }
        assertThat(login("127.0.0.2", 3 * SHARE)).isZero();
        opened.getFirst().close();
        TargetFixture.await("the end of one", () -> target.server.sessionCount() == SHARE);
        target.logInOnceThereIsPlace("127.0.0.1", 4 * SHARE);
    }

    @Test
    void shouldCountConnectionsThatJoinASession() throws Exception {
        assertThat(login("127.0.0.1", 1, SEVERAL)).isZero();
        assertThat(join(opened.getFirst(), 1, 1)).isZero();
        assertThat(join(opened.getFirst(), 1, 2)).isEqualTo(OUT_OF_RESOURCES);
        assertThat(login("127.0.0.1", 2)).isEqualTo(OUT_OF_RESOURCES);
        assertThat(login("127.0.0.2", 2)).isZero();
    }

    @Test
    void shouldReinstateASessionThoughAllConnectionsAreTaken() throws Exception {
        for (int i = 0; i < 2 * SHARE; i++) {
            assertThat(login("127.0.0." + (i % 2 + 1), i)).isZero();
        }
        assertThat(login("127.0.0.3", 2 * SHARE)).isEqualTo(OUT_OF_RESOURCES);
        assertThat(login("127.0.0.1", 0)).isZero();
        assertThat(target.server.sessionCount()).isEqualTo(2 * SHARE);
    }

    @Test
    void shouldReplaceAConnectionThoughAllAreTaken() throws Exception {
        assertThat(login("127.0.0.1", 1, SEVERAL)).isZero();
        assertThat(join(opened.getFirst(), 1, 1)).isZero();
        assertThat(join(opened.getFirst(), 1, 1)).isZero();
        assertThat(join(opened.getFirst(), 1, 2)).isEqualTo(OUT_OF_RESOURCES);
    }

    @Test
    void shouldAdmitAConnectionToItsKeptSession() throws Exception {
        assertThat(login("127.0.0.1", 1, SEVERAL, RECOVERY, RETAIN)).isZero();
        RawInitiator lost = opened.getFirst();
        Session session = target.server.shared().sessions().find(lost.tsih());
        lost.close();
        TargetFixture.await("the session is kept", session::isKept);
        assertThat(login("127.0.0.1", 2, SEVERAL)).isZero();
        assertThat(join(opened.getLast(), 2, 1)).as("its place").isEqualTo(OUT_OF_RESOURCES);
        assertThat(join(lost, 1, 0)).as("a session that has its share").isZero();
        assertThat(join(lost, 1, 1)).as("one more of it").isEqualTo(OUT_OF_RESOURCES);
    }

    @Test
    void shouldEndKeptSessionsBeforeAnAddressExceedsItsShare() throws Exception {
        for (int i = 0; i < 3 * SHARE; i++) {
            assertThat(login("127.0.0.1", i, RECOVERY, RETAIN)).isZero();
            Session session = target.server.shared().sessions().find(opened.getLast().tsih());
            opened.getLast().close();
            TargetFixture.await("the session is kept", session::isKept);
            assertThat(target.server.sessionCount()).isLessThanOrEqualTo(SHARE);
        }
    }
}
