package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.iscsi.pdu.AsyncEvent;
import lunar.iscsi.pdu.AsyncMessage;
import lunar.iscsi.pdu.LogoutResponse;
import lunar.scsi.Status;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that a server which is drained refuses logins and logs sessions out. */
@Timeout(600)
class DrainTest {
    private static final String HOST = "iqn.2026-11.org.host:one";
    private static final String OTHER = "iqn.2026-11.org.lunar:other";
    private static final Duration LONG = Duration.ofMinutes(5);
    private static final Duration SHORT = Duration.ofMillis(100);
    private static final int UNAVAILABLE = 0x0301;

    private BlockDevice device;
    private TargetServer server;

    @BeforeEach
    void start() throws IOException {
        device = Devices.open("ram:1MiB");
        server = TargetFixture.builder().portal("127.0.0.1", 0).loops(2)
                .target(TargetSpec.of(RawInitiator.TARGET).withLun(0, device))
                .target(TargetSpec.of(OTHER).withLun(0, device)).start();
    }

    @AfterEach
    void close() throws IOException {
        server.close();
        device.close();
    }

    private RawInitiator loggedIn(String target) throws IOException {
        var raw = new RawInitiator(server);
        assertThat(raw.loginAs(HOST, target).status()).isZero();
        raw.takeAttentions();
        return raw;
    }

    private static void assertAsked(RawInitiator raw) throws IOException {
        RawInitiator.Received message = raw.receive();
        assertThat(message.opcode()).isEqualTo(AsyncMessage.OPCODE);
        assertThat(message.bhs().int8(AsyncMessage.ASYNC_EVENT))
                .isEqualTo(AsyncEvent.LOGOUT_REQUEST.code());
    }

    private int statusOf(String initiator, String target) throws IOException {
        try (var raw = new RawInitiator(server)) {
            return raw.loginAs(initiator, target).status();
        }
    }

    @Test
    void shouldRefuseLoginsAndAskForLogout() throws Exception {
        try (var raw = loggedIn(RawInitiator.TARGET); var late = new RawInitiator(server)) {
            List<CompletableFuture<Void>> ends = server.drain(LONG);
            assertThat(ends).hasSize(1);
            assertThat(server.isDraining()).isTrue();
            assertAsked(raw);
            assertThat(late.loginAs(HOST, RawInitiator.TARGET).status()).isEqualTo(UNAVAILABLE);
            assertThat(statusOf("iqn.2026-11.org.host:two", OTHER)).isEqualTo(UNAVAILABLE);
            raw.write(3, TargetFixture.blocks(1, 4)); // what is in progress is still done
            assertThat(raw.receive().status()).isEqualTo(Status.GOOD);
            assertThat(ends.getFirst()).isNotDone();
            raw.logout();
            assertThat(raw.receive().opcode()).isEqualTo(LogoutResponse.OPCODE);
            ends.getFirst().get(120, TimeUnit.SECONDS);
        }
        try (var raw = new RawInitiator(server)) {
            assertThat(raw.loginWith(RawInitiator.isid(2), "InitiatorName=" + HOST,
                    "SessionType=Discovery").status()).isZero();
            assertThat(raw.sendTargets("All")).contains(OTHER);
        }
        server.endDrain();
        assertThat(statusOf(HOST, RawInitiator.TARGET)).isZero();
    }

    @Test
    void shouldRefuseConnectionsOfASessionThatContinues() throws Exception {
        try (var raw = new RawInitiator(server)) {
            assertThat(raw.login(RawInitiator.isid(7), "MaxConnections=4").status()).isZero();
            server.drain(LONG);
            try (var second = raw.another(server, RawInitiator.isid(7), 2)) {
                assertThat(second.loginAnswer().status()).isEqualTo(UNAVAILABLE);
            }
            try (var again = new RawInitiator(server)) {
                assertThat(again.login(RawInitiator.isid(7)).status()).as("reinstatement")
                        .isEqualTo(UNAVAILABLE);
            }
            assertThat(server.sessionCount()).isEqualTo(1);
        }
    }

    @Test
    void shouldEndSessionsThatStay() throws Exception {
        try (var raw = loggedIn(RawInitiator.TARGET)) {
            List<CompletableFuture<Void>> ends = server.drain(SHORT);
            ends.getFirst().get(120, TimeUnit.SECONDS);
            assertThat(raw.isClosedByTarget()).isTrue();
            assertThat(server.sessionCount()).isZero();
        }
    }

    @Test
    void shouldDrainATargetAlone() throws Exception {
        try (var raw = loggedIn(RawInitiator.TARGET); var stays = loggedIn(OTHER)) {
            assertThat(server.drain(RawInitiator.TARGET, LONG)).hasSize(1);
            assertThat(server.isDraining()).isFalse();
            assertThat(server.drainedTargets()).containsExactly(RawInitiator.TARGET);
            assertAsked(raw);
            assertThat(statusOf(HOST, RawInitiator.TARGET)).isEqualTo(UNAVAILABLE);
            stays.assertSilent();
            assertThat(statusOf("iqn.2026-11.org.host:two", OTHER)).isZero();
            server.update(TargetSpec.of(RawInitiator.TARGET).withLun(0, device).withAlias("new"));
            assertThat(statusOf(HOST, RawInitiator.TARGET)).as("after a change")
                    .isEqualTo(UNAVAILABLE);
            server.remove(RawInitiator.TARGET).get(120, TimeUnit.SECONDS);
            assertThat(server.drainedTargets()).isEmpty();
            assertThatThrownBy(() -> server.drain(RawInitiator.TARGET, LONG))
                    .hasMessageContaining("no target");
        }
    }

    /** However a login and the beginning of a drain meet, no session is left that was not asked to log out. */
    @Test
    void shouldMissNoLoginThatIsInProgress() throws Exception {
        for (int round = 0; round < 10; round++) {
            var stop = new AtomicBoolean();
            var hosts = new ArrayList<CompletableFuture<Void>>();
            for (int host = 0; host < 4; host++) {
                String name = "iqn.2026-11.org.host:n" + host;
                hosts.add(CompletableFuture.runAsync(() -> logInUntilRefused(name, stop),
                        task -> Thread.ofVirtual().start(task)));
            }
            if (round % 2 == 0) {
                TargetFixture.await("a session", () -> server.sessionCount() > 0);
            }
            List<CompletableFuture<Void>> ends = server.drain(SHORT);
            CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new)).get(120,
                    TimeUnit.SECONDS);
            stop.set(true);
            for (CompletableFuture<Void> host : hosts) {
                host.get(120, TimeUnit.SECONDS);
            }
            assertThat(server.sessionCount()).isZero();
            server.endDrain();
        }
    }

    /** Stays logged in until the target ends that. */
    private void logInUntilRefused(String name, AtomicBoolean stop) {
        try (var raw = new RawInitiator(server)) {
            int status = raw.loginAs(name, RawInitiator.TARGET).status();
            assertThat(status).isIn(0, UNAVAILABLE);
            if (status == 0) {
                assertThat(raw.isClosedByTarget()).isTrue();
            }
        } catch (IOException e) {
            throw new IllegalStateException(stop.get() ? "late" : "early", e);
        }
    }
}
