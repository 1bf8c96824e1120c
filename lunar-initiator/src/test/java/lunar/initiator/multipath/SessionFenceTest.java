package lunar.initiator.multipath;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.Identity;
import lunar.initiator.Initiator;
import lunar.initiator.SessionOptions;
import lunar.iscsi.LoginStatus;
import lunar.iscsi.pdu.Isid;
import lunar.iscsi.pdu.LoginRequest;
import lunar.iscsi.pdu.LogoutRequest;
import lunar.iscsi.pdu.LogoutResponse;
import lunar.iscsi.text.TargetAddress;
import lunar.testkit.ScriptedTarget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests what is known of a session of an earlier process that cannot be ended. */
@Timeout(120)
class SessionFenceTest {
    private static final String INITIATOR = "iqn.2026-11.org.lunar:fencing";
    private static final String TARGET = "iqn.2026-11.org.lunar:scripted";

    private static final class User implements BarrierUser {
        @Override
        public void adopt() {}

        @Override
        public void lowered() {}
    }

    /** Tries twice to end a session of portal group 1; returns why that has failed. */
    private static String obstacle(ScriptedTarget.Script script) throws Exception {
        try (var target = ScriptedTarget.start(script);
                var initiator = Initiator.create(INITIATOR)) {
            var nexus = new SessionRecord(INITIATOR, Isid.random(0xabcdef, 1), "iscsi",
                    new TargetAddress("127.0.0.1", target.port(), OptionalInt.empty()),
                    OptionalInt.of(1), Optional.empty());
            var unit = new Identity("OTHER", "DISK", "1", "1", UUID.randomUUID());
            PathSession stale = PathSession.ofEarlier(nexus,
                    SessionOptions.of("127.0.0.1", target.port(), TARGET),
                    new SessionJournal(Optional.empty(), TARGET, unit));
            var user = new User();
            WriteBarrier barrier = WriteBarrier.join(user, TARGET, unit);
            barrier.inherit(List.of(stale), user);
            for (int i = 0; i < 2; i++) {
                assertThat(SessionFence.end(initiator, stale, List.of(), true)).isFalse();
            }
            barrier.lower(List.of(stale));
            barrier.leave(user, List.of());
            assertThat(target.failures()).isEmpty();
            return stale.obstacle();
        }
    }

    @Test
    void shouldLogInOnceAtAPortalOfAnotherGroup() throws Exception {
        var logins = new AtomicInteger();
        assertThat(obstacle(peer -> {
            logins.incrementAndGet();
            peer.login("TargetPortalGroupTag=2");
            var logout = peer.receive(LogoutRequest.class);
            peer.send(new LogoutResponse(0, logout.itt(), peer.statSn(), peer.expCmdSn(),
                    peer.expCmdSn() + 8, 0, 0));
            peer.awaitEnd();
        })).contains("127.0.0.1").contains("answers from another portal group");
        assertThat(logins).hasValue(1);
    }

    @Test
    void shouldSayWhyTheLoginWasRefused() throws Exception {
        assertThat(obstacle(peer -> {
            var request = peer.receive(LoginRequest.class);
            peer.send(peer.loginResponse(request, false,
                    LoginStatus.OUT_OF_RESOURCES.statusClass(),
                    LoginStatus.OUT_OF_RESOURCES.detail()));
            peer.awaitEnd();
        })).contains("127.0.0.1").contains("[0302]");
    }
}
