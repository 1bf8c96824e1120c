package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import lunar.iscsi.login.Offer;
import lunar.target.internal.session.Session;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that sessions kept after the loss of their connection do not prevent other logins. */
class KeptSessionsTest {
    private static final int LIMIT = 5;
    private static final int MANY = 20;
    private static final int OUT_OF_RESOURCES = 0x302;
    private static final String RECOVERY = "ErrorRecoveryLevel=2";
    private static final String RETAIN = "DefaultTime2Retain=" + SessionLimits.MAX_SECONDS;

    private final GatedDevice device;

    KeptSessionsTest() throws IOException { device = new GatedDevice("ram:1MiB"); }

    @AfterEach
    void close() throws IOException { device.close(); }

    private TargetServer server(SessionLimits limits) throws IOException {
        return server(limits, TargetServer.DEFAULT_OFFER);
    }

    private TargetServer server(SessionLimits limits, Offer offer) throws IOException {
        return TargetFixture.builder().portal("127.0.0.1", 0).sessionLimits(limits).offer(offer)
                .loops(2).target(TargetSpec.of(RawInitiator.TARGET).withLun(0, device)).start();
    }

    /** Keeps sessions for longer than the test takes. */
    private static SessionLimits patient(SessionLimits limits) {
        return limits.withMaxTime2RetainSeconds(SessionLimits.MAX_SECONDS);
    }

    /** A session that loses its connection; returns its TSIH. */
    private static int abandon(TargetServer server, String address, int isid, String... keys)
            throws IOException {
        try (var initiator = RawInitiator.from(address, server)) {
            assertThat(initiator.login(RawInitiator.isid(isid), keys).status()).isZero();
            return initiator.tsih();
        }
    }

    private static void awaitKept(TargetServer server, int tsih) {
        TargetFixture.await("the loss is noticed", () -> {
            Session session = server.shared().sessions().find(tsih);
            return session != null && session.isKept();
        });
    }

    @Test
    void shouldKeepNothingForAnInitiatorThatReturnsTooLate() throws Exception {
        try (var server = server(SessionLimits.DEFAULT)) {
            try (var initiator = new RawInitiator(server)) {
                assertThat(initiator.login(RawInitiator.isid(1), RECOVERY, RETAIN,
                        "DefaultTime2Wait=3600").keys()).contains("DefaultTime2Wait=3600");
                assertThat(server.sessionCount()).isOne();
            }
            TargetFixture.await("the session ends", () -> server.sessionCount() == 0);
        }
    }

    @Test
    void shouldLimitNegotiatedTime2Retain() throws Exception {
        try (var server = server(SessionLimits.DEFAULT.withMaxTime2RetainSeconds(7));
                var initiator = new RawInitiator(server)) {
            assertThat(initiator.login(RawInitiator.isid(1), RECOVERY, "DefaultTime2Retain=3600")
                    .keys()).contains("DefaultTime2Retain=7");
        }
    }

    @Test
    void shouldLimitOfferedTime2Wait() throws Exception {
        try (var server = server(SessionLimits.DEFAULT.withMaxTime2WaitSeconds(1),
                TargetServer.DEFAULT_OFFER.withDefaultTime2WaitSeconds(2));
                var initiator = new RawInitiator(server)) {
            assertThat(initiator.login(RawInitiator.isid(1), RECOVERY, "DefaultTime2Wait=0")
                    .keys()).contains("DefaultTime2Wait=1");
        }
    }

    @Test
    void shouldAdmitNewSessionsInPlaceOfLostOnes() throws Exception {
        for (SessionLimits limits : new SessionLimits[]{SessionLimits.DEFAULT.withPerServer(LIMIT),
                SessionLimits.DEFAULT.withPerTarget(LIMIT),
                SessionLimits.DEFAULT.withPerInitiator(LIMIT),
                SessionLimits.DEFAULT.withPerAddress(LIMIT)}) {
            try (var server = server(patient(limits))) {
                for (int i = 0; i < MANY; i++) {
                    awaitKept(server, abandon(server, "127.0.0.1", i, RECOVERY, RETAIN));
                    assertThat(server.sessionCount()).isLessThanOrEqualTo(LIMIT);
                }
                try (var honest = RawInitiator.ready(server, MANY)) {
                    assertThat(honest.read(0, 1)).hasSize(512);
                    assertThat(server.sessionCount()).isEqualTo(LIMIT);
                }
            }
        }
    }

    @Test
    void shouldKeepSessionsOfTheAddressWithFewer() throws Exception {
        try (var server = server(patient(new SessionLimits(LIMIT, 99, 99)))) {
            int honest = abandon(server, "127.0.0.2", 1, RECOVERY, RETAIN);
            awaitKept(server, honest);
            for (int i = 2; i < MANY; i++) {
                awaitKept(server, abandon(server, "127.0.0.1", i, RECOVERY, RETAIN));
            }
            assertThat(server.shared().sessions().find(honest)).isNotNull();
        }
    }

    @Test
    void shouldNotEndAConnectedSessionForAnother() throws Exception {
        try (var server = server(new SessionLimits(1, 1, 1));
                var living = RawInitiator.ready(server, 1, RECOVERY, RETAIN);
                var other = new RawInitiator(server)) {
            assertThat(other.login(RawInitiator.isid(2)).status()).isEqualTo(OUT_OF_RESOURCES);
            assertThat(living.read(0, 1)).hasSize(512);
        }
    }

    @Test
    void shouldGiveNoAddressMoreThanItsShare() throws Exception {
        try (var server = server(SessionLimits.DEFAULT.withPerAddress(1));
                var first = RawInitiator.ready(server, 1);
                var second = new RawInitiator(server);
                var elsewhere = RawInitiator.from("127.0.0.2", server)) {
            assertThat(second.login(RawInitiator.isid(2)).status()).isEqualTo(OUT_OF_RESOURCES);
            assertThat(elsewhere.login(RawInitiator.isid(2)).status()).isZero();
            assertThat(first.read(0, 1)).hasSize(512);
        }
    }
}
