package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import lunar.initiator.internal.session.JoinBackoff;
import lunar.iscsi.LoginException;
import lunar.iscsi.LoginStatus;
import lunar.iscsi.pdu.LoginRequest;
import lunar.scsi.Lun;
import lunar.testkit.CapturedLog;
import lunar.testkit.ScriptedPeer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that a session continues with its existing connections when the target rejects further ones. */
@Timeout(180)
class RefusedConnectionTest {
    private final AtomicInteger logins = new AtomicInteger();
    private final ScriptedDisk disk = new ScriptedDisk();

    private void serve(ScriptedPeer peer, LoginStatus status) throws Exception {
        if (logins.getAndIncrement() == 0) {
            peer.login("MaxConnections=2");
            disk.serveLoggedIn(peer, (_, _, _) -> false);
        } else {
            var request = peer.receive(LoginRequest.class);
            peer.send(peer.loginResponse(request, false, status.statusClass(), status.detail()));
            peer.awaitEnd();
        }
    }

    @ParameterizedTest
    @EnumSource(value = LoginStatus.class, names = {"AUTHENTICATION_FAILURE",
            "AUTHORIZATION_FAILURE", "CANNOT_INCLUDE_IN_SESSION"})
    void shouldGiveUpAConnectionThatIsRejectedForGood(LoginStatus status) throws Exception {
        try (var log = new CapturedLog("lunar.initiator");
                var loopback = new Loopback(peer -> serve(peer, status));
                Session session = loopback.initiator
                        .login(loopback.options().withConnections(2))) {
            int most = 3 + JoinBackoff.MAX_REFUSALS;
            while (log.linesWith("not retried").isEmpty()) {
                assertThat(logins).as("the first, the one beside it, and those tried later")
                        .hasValueLessThanOrEqualTo(most);
                Thread.onSpinWait();
            }
            assertThat(logins).hasValueLessThanOrEqualTo(most);
            assertThat(log.linesWith("not retried")).singleElement().asString()
                    .contains("connection 1", status.text());
            session.open(Lun.ZERO).close();
            assertThat(session.connectionCount()).isOne();
        }
    }

    private static LongStream pauses(IOException why, int count) {
        var backoff = new JoinBackoff();
        return LongStream.generate(() -> backoff.afterMs(why)).limit(count);
    }

    @Test
    void shouldRetryTransientFailuresWithBackoff() {
        IOException unreachable = new IOException("no route");
        IOException full = refusal(LoginStatus.TOO_MANY_CONNECTIONS);
        assertThat(pauses(unreachable, 9)).containsExactly(100L, 200L, 400L, 800L, 1600L, 3200L,
                6400L, 10_000L, 10_000L);
        assertThat(pauses(full, 13)).startsWith(100L, 200L)
                .endsWith(25_600L, 51_200L, 102_400L, 204_800L, 300_000L);
    }

    @Test
    void shouldNotRetryPermanentRejectionsForever() {
        assertThat(pauses(refusal(LoginStatus.AUTHORIZATION_FAILURE), 3)).containsExactly(100L,
                200L, JoinBackoff.NEVER);
        assertThat(pauses(refusal(LoginStatus.SESSION_DOES_NOT_EXIST), 1))
                .containsExactly(JoinBackoff.NEVER);
    }

    @Test
    void shouldPollSoonATargetThatIsNotReadyAfterALongOutage() {
        var backoff = new JoinBackoff();
        for (int i = 0; i < 20; i++) {
            assertThat(backoff.afterMs(new IOException("no route"))).isLessThan(10_001L);
        }
        IOException notReady = refusal(LoginStatus.SERVICE_UNAVAILABLE);
        assertThat(backoff.afterMs(notReady)).isEqualTo(100L);
        assertThat(backoff.afterMs(notReady)).isEqualTo(200L);
        assertThat(backoff.afterMs(new IOException("no route"))).isEqualTo(10_000L);
    }

    @Test
    void shouldCountEachReasonSeparately() {
        var backoff = new JoinBackoff();
        IOException authentication = refusal(LoginStatus.AUTHENTICATION_FAILURE);
        IOException authorization = refusal(LoginStatus.AUTHORIZATION_FAILURE);
        for (int i = 0; i < JoinBackoff.MAX_REFUSALS; i++) {
            assertThat(backoff.afterMs(authentication)).isPositive();
            assertThat(backoff.afterMs(authorization)).isPositive();
        }
        assertThat(backoff.afterMs(authentication)).isEqualTo(JoinBackoff.NEVER);
    }

    private static IOException refusal(LoginStatus status) {
        return new LoginException("refused", status.statusClass(), status.detail());
    }
}
