package lunar.target;

import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.LogoutResponse;
import lunar.iscsi.pdu.NopIn;
import lunar.scsi.Status;
import lunar.testkit.CapturedLog;
import org.junit.jupiter.api.Test;

/** Tests connections and sessions of a server: their start, end, reinstatement and independence. */
class TargetServerTest {
    private static final int OUT_OF_RESOURCES = 0x0302;

    @Test
    void shouldReportAResetToANewSessionOnce() throws Exception {
        try (var target = new TargetFixture();
                var initiator = new RawInitiator(target.server)) {
            assertThat(initiator.login(RawInitiator.isid(1)).status()).isZero();
            assertThat(initiator.takeAttentions()).isEqualTo(1);
            assertThat(target.server.sessionCount()).isEqualTo(1);
        }
    }

    @Test
    void shouldNotifyListenersOfTargetChanges() throws Exception {
        try (var target = new TargetFixture()) {
            var seen = new ArrayList<List<String>>();
            List<String> before = target.server.targetNames();
            target.server.onChange(() -> seen.add(target.server.targetNames()));
            TargetSpec other = TargetSpec.of("iqn.2026-11.org.lunar:other").withAlias("first");

            target.server.update(other);
            target.server.update(other.withAlias("second"));
            assertThat(target.server.spec(other.name()).orElseThrow().alias()).isEqualTo("second");
            target.server.remove(other.name());

            assertThat(seen).hasSize(3).last().isEqualTo(before);
            assertThat(seen.getFirst()).endsWith(other.name());
            assertThat(target.server.spec(other.name())).isEmpty();
        }
    }

    @Test
    void shouldEndOldSessionBeforeNewOneBegins() throws Exception {
        try (var target = new TargetFixture();
                var old = target.ready(1);
                var successor = new RawInitiator(target.server)) {
            target.device.shut(1);
            old.write(0, blocks(1, 0xaa));
            target.device.awaitArrivals();

            successor.sendLogin(RawInitiator.isid(1));
            assertThat(old.isClosedByTarget()).isTrue();
            assertThat(successor.isQuiet()).as("no answer while the old write may still land")
                    .isTrue();
            target.device.open();

            assertThat(successor.loginAnswer().status()).isZero();
            assertThat(target.onDevice(0, 1)).isEqualTo(blocks(1, 0xaa));
            successor.takeAttentions();
            successor.write(0, blocks(1, 0xbb));
            assertThat(successor.receive().status()).isEqualTo(Status.GOOD);
            assertThat(target.onDevice(0, 1)).isEqualTo(blocks(1, 0xbb));
            assertThat(target.server.sessionCount()).isEqualTo(1);
        }
    }

    @Test
    void shouldAdmitLastOfSeveralLoginsAfterTheFirstSessionHasEnded() throws Exception {
        try (var target = new TargetFixture();
                var old = target.ready(1);
                var second = new RawInitiator(target.server);
                var third = new RawInitiator(target.server)) {
            target.device.shut(1);
            old.write(0, blocks(1, 0xaa));
            target.device.awaitArrivals();

            second.sendLogin(RawInitiator.isid(1));
            assertThat(old.isClosedByTarget()).isTrue();
            third.sendLogin(RawInitiator.isid(1));
            assertThat(third.isQuiet()).as("no answer while the first one's write may still land")
                    .isTrue();
            target.device.open();

            assertThat(third.loginAnswer().status()).isZero();
            assertThat(second.isClosedByTarget()).isTrue();
            third.takeAttentions();
            third.write(0, blocks(1, 0xcc));
            assertThat(third.receive().status()).isEqualTo(Status.GOOD);
            assertThat(target.onDevice(0, 1)).isEqualTo(blocks(1, 0xcc));
            assertThat(target.server.sessionCount()).isEqualTo(1);
        }
    }

    /** A port hears of the power on once; when its session is made anew, it hears that the nexus was lost. */
    @Test
    void shouldDistinguishAPowerOnFromALostNexus() throws Exception {
        try (var target = new TargetFixture();
                var first = new RawInitiator(target.server)) {
            first.login(RawInitiator.isid(1));
            assertThat(first.command(new byte[6], 0).sense()).isEqualTo(0x062900);
            try (var again = new RawInitiator(target.server);
                    var other = new RawInitiator(target.server)) {
                again.login(RawInitiator.isid(1));
                assertThat(again.command(new byte[6], 0).sense()).isEqualTo(0x062907);
                other.login(RawInitiator.isid(2));
                assertThat(other.command(new byte[6], 0).sense()).isEqualTo(0x062900);
                assertThat(again.takeAttentions()).isZero();
            }
        }
    }

    @Test
    void shouldReinstateSessionWithinBoundWhenDeviceHangs() throws Exception {
        TargetFixture.withTimeout(100, 8_000, TargetServerTest::reinstateWhileDeviceHangs);
    }

    private static void reinstateWhileDeviceHangs(long abortMs) throws Exception {
        try (var target = new TargetFixture(TargetFixture.limits(600_000, 600_000, abortMs));
                var old = target.ready(1);
                var successor = new RawInitiator(target.server)) {
            target.device.shut(1);
            old.write(0, blocks(1, 0xaa));
            target.device.awaitArrivals();

            assertThat(successor.login(RawInitiator.isid(1)).status()).isZero();
            assertThat(old.isClosedByTarget()).isTrue();
        }
    }

    @Test
    void shouldKeepSessionsOfOtherIsidsWhenOneIsReinstated() throws Exception {
        try (var target = new TargetFixture();
                var other = target.ready(2);
                var old = target.ready(1);
                var successor = target.ready(1)) {
            assertThat(old.isClosedByTarget()).isTrue();
            other.write(5, blocks(2, 0x55));
            assertThat(other.receive().status()).isEqualTo(Status.GOOD);
            assertThat(successor.read(5, 2)).isEqualTo(blocks(2, 0x55));
            assertThat(target.server.sessionCount()).isEqualTo(2);
        }
    }

    @Test
    void shouldEndConnectionThatDoesNotLogIn() throws Exception {
        try (var target = new TargetFixture(TargetFixture.limits(100, 30_000, 5_000));
                var silent = new RawInitiator(target.server);
                var halfway = new RawInitiator(target.server)) {
            halfway.sendBytes(new byte[]{0x43, (byte) 0x87, 0, 0}); // a header's first bytes
            assertThat(silent.isClosedByTarget()).isTrue();
            assertThat(halfway.isClosedByTarget()).isTrue();
        }
    }

    @Test
    void shouldRejectOneConnectionTooMany() throws Exception {
        try (var target = new TargetFixture(TargetFixture.maxConnections(2));
                var first = target.ready(1)) {
            try (var second = target.ready(2); var third = new RawInitiator(target.server)) {
                assertThat(third.login(RawInitiator.isid(3)).status()).isEqualTo(OUT_OF_RESOURCES);
                assertThat(third.isClosedByTarget()).isTrue();
                assertThat(second.read(0, 1)).isEqualTo(blocks(1, 0));
            }
            TargetFixture.await("place for another", () -> target.server.sessionCount() == 1);
            assertThat(first.read(0, 1)).isEqualTo(blocks(1, 0));
            target.logInOnceThereIsPlace("127.0.0.1", 4);
        }
    }

    @Test
    void shouldPingSilentInitiatorAndDropItWhenItDoesNotAnswer() throws Exception {
        TargetFixture.withTimeout(1_000, 12_000, TargetServerTest::answerPingsForAWhile);
    }

    private static void answerPingsForAWhile(long idleMs) throws Exception {
        try (var target = new TargetFixture(TargetFixture.limits(600_000, idleMs, 5_000));
                var initiator = target.ready(1)) {
            for (int i = 0; i < 2; i++) {
                RawInitiator.Received ping = initiator.receive();
                assertThat(ping.opcode()).isEqualTo(NopIn.OPCODE);
                assertThat(ping.bhs().itt()).isEqualTo(Bhs.NO_TAG);
                assertThat(ping.bhs().ttt()).isNotEqualTo(Bhs.NO_TAG);
                initiator.answerPing(ping.bhs().ttt());
            }
            assertThat(initiator.isClosedByTarget()).isTrue();
            TargetFixture.await("the session ends", () -> target.server.sessionCount() == 0);
        }
    }

    @Test
    void shouldEndConnectionThatSendsGarbageWithOneLineAndServeOthers() throws Exception {
        try (var log = new CapturedLog("lunar.target");
                var target = new TargetFixture();
                var good = target.ready(1)) {
            for (int i = 0; i < 5; i++) {
                try (var bad = i < 4 ? target.ready(2 + i) : new RawInitiator(target.server)) {
                    good.write(i, blocks(1, i + 1));
                    byte[] garbage = blocks(1, 0x3f + i);
                    garbage[4] = 0; // no additional header, else it would wait for it
                    bad.sendBytes(garbage);
                    assertThat(bad.isClosedByTarget()).as("garbage " + i).isTrue();
                    assertThat(good.receive().status()).isEqualTo(Status.GOOD);
                    assertThat(good.read(i, 1)).isEqualTo(blocks(1, i + 1));
                    String port = ":" + bad.localPort() + " ";
                    TargetFixture.await("a line in the log", () -> log.linesWith(port).size() > 0);
                    assertThat(log.linesWith(port)).hasSize(1);
                }
            }
            TargetFixture.await("only the good session stays",
                    () -> target.server.sessionCount() == 1);
        }
    }

    @Test
    void shouldEndSessionsOfInitiatorsThatVanish() throws Exception {
        try (var target = new TargetFixture()) {
            target.device.shut(1);
            try (var initiator = new RawInitiator(target.server)) {
                assertThat(initiator.login(RawInitiator.isid(1)).status()).isZero();
                initiator.takeAttentions();
                initiator.write(0, blocks(4, 7));
                target.device.awaitArrivals();
            }
            target.device.open();
            TargetFixture.await("the session ends", () -> target.server.sessionCount() == 0);
            TargetFixture.await("memory comes back", () -> target.server.bufferBytesInUse() == 0);
        }
    }

    @Test
    void shouldCloseConnectionAfterLogout() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            initiator.logout();

            RawInitiator.Received answer = initiator.receive();
            assertThat(answer.opcode()).isEqualTo(LogoutResponse.OPCODE);
            assertThat(answer.bhs().int8(LogoutResponse.RESPONSE)).isZero();
            assertThat(initiator.isClosedByTarget()).isTrue();
            TargetFixture.await("the session ends", () -> target.server.sessionCount() == 0);
        }
    }

    @Test
    void shouldEndSessionsWhenClosed() throws Exception {
        try (var target = new TargetFixture();
                var one = target.ready(1);
                var other = target.ready(2)) {
            target.server.close();

            assertThat(one.isClosedByTarget()).isTrue();
            assertThat(other.isClosedByTarget()).isTrue();
            assertThat(target.server.sessionCount()).isZero();
        }
    }
}
