package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.initiator.multipath.MultipathDevice;
import lunar.initiator.multipath.MultipathOptions;
import lunar.iscsi.LoginStatus;
import lunar.iscsi.pdu.LoginRequest;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.scsi.Cdb;
import lunar.scsi.Lun;
import lunar.scsi.block.WriteBlocks;
import lunar.scsi.vpd.Inquiry;
import lunar.scsi.vpd.StandardInquiry;
import lunar.testkit.ScriptedPeer;
import lunar.testkit.ScriptedTarget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests a path whose session is followed by one in another portal group: the new login does not end the old session,
 * which may still execute an unacknowledged write (ADR 7).
 */
@Timeout(120)
class RedirectedPathTest {
    private static final int LOST_LBA = 7;

    private final ScriptedDisk disk = new ScriptedDisk();
    private final AtomicInteger firstLogins = new AtomicInteger();
    private final AtomicInteger secondLogins = new AtomicInteger();
    /** Behavior of the first group for logins after the redirected one. */
    private volatile boolean takesLogins;
    /** The first portal is in the second group from its second login on. */
    private volatile boolean changesGroup;

    private static boolean isAsked(ScriptedPeer peer, ScsiCommand command, Cdb cdb)
            throws IOException {
        if (cdb instanceof Inquiry inquiry && !inquiry.evpd()) { // no target that is asked for more by text
            ScriptedDisk.data(peer, command, StandardInquiry.disk("OTHER", "SCRIPTED", "1"),
                    inquiry.allocationLength());
            return true;
        }
        return false;
    }

    /** Portal group 1: loses a write with its first session, then sends the path elsewhere. */
    private void first(ScriptedPeer peer, ScriptedTarget second) throws Exception {
        int login = firstLogins.incrementAndGet();
        if (changesGroup && login > 1) {
            serveSecondGroup(peer);
            return;
        }
        if (login == 2 || (login > 2 && !takesLogins)) {
            var request = peer.receive(LoginRequest.class);
            peer.send(peer.loginResponse(request, false,
                    LoginStatus.MOVED_TEMPORARILY.statusClass(),
                    LoginStatus.MOVED_TEMPORARILY.detail()),
                    ("TargetAddress=" + second.portal() + "\0").getBytes(StandardCharsets.UTF_8));
            peer.awaitEnd();
            return;
        }
        peer.login("TargetPortalGroupTag=1", "DefaultTime2Wait=0");
        disk.serveLoggedIn(peer, (_, command, cdb) -> {
            if (cdb instanceof WriteBlocks write && write.lba() == LOST_LBA) {
                peer.cut();
                return true;
            }
            return isAsked(peer, command, cdb);
        });
    }

    private void second(ScriptedPeer peer) throws Exception {
        secondLogins.incrementAndGet();
        serveSecondGroup(peer);
    }

    private void serveSecondGroup(ScriptedPeer peer) throws Exception {
        peer.login("TargetPortalGroupTag=2", "DefaultTime2Wait=0");
        disk.serveLoggedIn(peer, RedirectedPathTest::isAsked);
    }

    private interface Check {
        void of(MultipathDevice device) throws Exception;
    }

    /** @param name of the target: what one test leaves at it is of no concern to the other */
    private void with(String name, Check check) throws Exception {
        try (var second = ScriptedTarget.start(this::second);
                var loopback = new Loopback(peer -> first(peer, second));
                MultipathDevice device = MultipathDevice.open(loopback.initiator,
                        MultipathOptions.of(List.of(SessionOptions.of("127.0.0.1",
                                loopback.target.port(), Loopback.TARGET + name)
                                .withTimeouts(Loopback.patient())), Lun.ZERO)
                                .withPauses(1, 10))) {
            check.of(device);
            assertThat(secondLogins).hasValue(changesGroup ? 0 : 1);
            assertThat(second.failures()).isEmpty();
        }
    }

    @Test
    void shouldEndTheSessionInTheGroupThatThePathHasLeft() throws Exception {
        takesLogins = true;
        with(":left", device -> {
            device.write(LOST_LBA, Loopback.blocks(1)); // again, once that session has ended
            assertThat(firstLogins).hasValue(3);
        });
    }

    /** A login with the path's ISID that followed the redirection would end the session that the path has now. */
    @Test
    void shouldNotEndTheSessionThatThePathHasNow() throws Exception {
        with(":now", device -> {
            CompletableFuture<Void> lost = device.submitWrite(LOST_LBA, Loopback.blocks(1));
            while (secondLogins.get() == 0) {
                Thread.onSpinWait();
            }
            while (firstLogins.get() < 5) {
                device.write(LOST_LBA + 1L, Loopback.blocks(1));
            }
            assertThat(lost).isNotDone();
            assertThat(secondLogins).hasValue(1);
            takesLogins = true;
            lost.get(60, TimeUnit.SECONDS);
        });
    }

    /** The portal has changed its group: a login there with the path's ISID ends the session that the path has now. */
    @Test
    void shouldNotLogInWhereThePathIsInAnotherGroup() throws Exception {
        changesGroup = true;
        with(":changed", device -> {
            CompletableFuture<Void> lost = device.submitWrite(LOST_LBA, Loopback.blocks(1));
            while (firstLogins.get() < 2) {
                Thread.onSpinWait();
            }
            for (int i = 0; i < 1000; i++) {
                device.write(LOST_LBA + 1L, Loopback.blocks(1));
            }
            assertThat(firstLogins).hasValue(2);
            assertThat(lost).isNotDone();
        });
    }
}
