package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.DeviceGoneException;
import lunar.initiator.internal.session.Connection;
import lunar.iscsi.login.Offer;
import lunar.iscsi.pdu.LogoutReason;
import lunar.iscsi.pdu.LogoutRequest;
import lunar.iscsi.pdu.LogoutResponse;
import lunar.scsi.Lun;
import lunar.scsi.block.ReadBlocks;
import lunar.scsi.block.WriteBlocks;
import lunar.testkit.ScriptedPeer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class ClosingTest {
    @Test
    void shouldLogOutOnceHoweverOftenClosed() throws Exception {
        var logouts = new CompletableFuture<LogoutRequest>();
        try (var loopback = new Loopback(peer -> {
            peer.login();
            var logout = peer.receive(LogoutRequest.class);
            logouts.complete(logout);
            peer.send(new LogoutResponse(0, logout.itt(), peer.statSn(),
                    peer.expCmdSn(), peer.maxCmdSn(), 0, 0));
            peer.awaitEnd(); // a second one would be no end, and fail the script
        })) {
            Session session = loopback.login();
            session.close();
            session.close();
            assertThat(logouts.get().reason()).isEqualTo(LogoutReason.CLOSE_SESSION);
            assertThat(session.isOpen()).isFalse();
            assertThatThrownBy(session::luns).isInstanceOf(DeviceGoneException.class)
                    .hasMessageContaining("the session is closed");
        }
    }

    @Test
    void shouldNotWaitLongerThanTheTimeoutForALogout() throws Exception {
        try (var loopback = new Loopback(peer -> {
            peer.login();
            peer.awaitEnd();
        }).timeouts(Loopback.patient().withLogoutMs(100))) {
            Session session = loopback.login();
            session.close();
            assertThat(session.isOpen()).isFalse();
        }
    }

    @Test
    void shouldCloseASessionWhoseTargetHasGone() throws Exception {
        var cut = new CountDownLatch(1);
        try (var loopback = new Loopback(peer -> {
            peer.login();
            peer.cut();
            cut.countDown();
        })) {
            Session session = loopback.login();
            assertThat(cut.await(60, TimeUnit.SECONDS)).isTrue();
            session.close();
            assertThat(session.isOpen()).isFalse();
        }
    }

    @Test
    void shouldEndRequestsAtTheTargetAndWaitingOnes() throws Exception {
        var atTarget = new CountDownLatch(4);
        try (var loopback = Loopback.disk((_, _, cdb) -> {
            if (cdb instanceof ReadBlocks) {
                atTarget.countDown(); // and never answered
            }
            return cdb instanceof ReadBlocks;
        }).queueDepth(4)) {
            Session session = loopback.login();
            LunDevice device = session.open(Lun.ZERO);
            var all = new ArrayList<CompletableFuture<Void>>();
            for (int i = 0; i < 10; i++) {
                all.add(device.submitRead(i, Loopback.blocks(1)));
            }
            assertThat(atTarget.await(60, TimeUnit.SECONDS)).isTrue();
            session.close();
            for (var each : all) {
                assertThat(each).isCompletedExceptionally();
                assertThat(each.exceptionNow()).isInstanceOf(DeviceGoneException.class);
            }
            device.close();
        }
    }

    @Test
    void shouldEndRequestsInFlightBeforeADeviceIsClosed() throws Exception {
        var done = new AtomicInteger();
        try (var loopback = Loopback.disk((_, _, _) -> false); Session session = loopback.login()) {
            LunDevice device = session.open(Lun.ZERO);
            for (int i = 0; i < 50; i++) {
                device.submitRead(i, Loopback.blocks(1)).thenRun(done::incrementAndGet);
            }
            device.close();
            device.close();
            assertThat(done).hasValue(50);
            assertThat(session.isOpen()).isTrue();
            assertThatThrownBy(() -> device.read(0, Loopback.blocks(1)))
                    .isInstanceOf(DeviceGoneException.class);
            session.open(Lun.ZERO).close(); // another one may be had
        }
    }

    @Test
    void shouldNotSendFromABufferOnceItsWriteHasEnded() throws Exception {
        int bytes = 15 << 20; // more than the sockets between us take
        Offer offer = Offer.DEFAULT.withBurstLengths(bytes, bytes);
        try (var loopback = new Loopback(peer -> {
            peer.login("MaxRecvDataSegmentLength=" + bytes, "MaxBurstLength=" + bytes,
                    "FirstBurstLength=" + bytes);
            Thread.sleep(Loopback.NEVER_MS); // takes nothing, until the target is closed
        }).timeouts(Loopback.patient().withCommandMs(1_500).withAbortMs(100));
                Session session = loopback.initiator.login(loopback.options().withOffer(offer));
                var arena = Arena.ofShared()) {
            MemorySegment buffer = arena.allocate(bytes);
            byte[] cdb = WriteBlocks.of(0, bytes / 512, false).bytes();
            Connection connection = session.engine().tasks().connections().getFirst();
            assertThatThrownBy(
                    () -> session.execute(Lun.ZERO, cdb, MemorySegment.NULL, buffer))
                    .isInstanceOf(DeviceGoneException.class);
            assertThat(connection.transport().queuedBytes()).isZero();
        }
    }

    @Test
    void shouldCloseItsSessionsWithTheInitiator() throws Exception {
        var disk = new ScriptedDisk();
        var loopback = new Loopback(disk::serve);
        try (loopback) {
            Session one = loopback.login();
            Session two = loopback.login();
            loopback.initiator.close();
            assertThat(one.isOpen()).isFalse();
            assertThat(two.isOpen()).isFalse();
        }
    }

    @Test
    void shouldGiveSessionsIdentifiersOfTheirOwn() throws Exception {
        try (var loopback = new Loopback(new ScriptedDisk()::serve);
                Session one = loopback.login();
                Session two = loopback.login()) {
            assertThat(one.loginResult().isid()).isNotEqualTo(two.loginResult().isid());
        }
    }

    @Test
    void shouldEndALoginWhenTheInitiatorIsClosed() throws Exception {
        var asked = new CountDownLatch(1);
        try (var loopback = new Loopback((ScriptedPeer peer) -> {
            peer.receive();
            asked.countDown();
            peer.awaitEnd();
        })) {
            var login = CompletableFuture.supplyAsync(() -> {
                try {
                    return (Object) loopback.login();
                } catch (IOException e) {
                    return e;
                }
            });
            assertThat(asked.await(60, TimeUnit.SECONDS)).isTrue();
            loopback.initiator.close();
            assertThat(login.get(60, TimeUnit.SECONDS)).isInstanceOf(IOException.class);
        }
    }
}
