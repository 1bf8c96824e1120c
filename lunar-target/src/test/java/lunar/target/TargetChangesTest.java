package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import lunar.iscsi.pdu.AsyncEvent;
import lunar.iscsi.pdu.AsyncMessage;
import lunar.iscsi.pdu.LogoutResponse;
import lunar.iscsi.pdu.R2t;
import lunar.iscsi.text.TargetAddress;
import lunar.scsi.Lun;
import lunar.scsi.Status;
import lunar.scsi.primary.TargetPortGroups.State;
import lunar.scsi.target.block.DiskSpec;
import lunar.target.status.SessionStatus;
import lunar.testkit.FreePorts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests unit attentions and Asynchronous Messages when the configuration of a server changes, and when it shuts down.
 */
class TargetChangesTest {
    private static final String ONE = "iqn.2026-11.org.host:one";
    private static final String TWO = "iqn.2026-11.org.host:two";
    private static final String OTHER = "iqn.2026-11.org.lunar:other";
    private static final byte[] TEST_UNIT_READY = new byte[6];
    private static final int CAPACITY_CHANGED = 0x06_2a_09;
    private static final int MODE_CHANGED = 0x06_2a_01;
    private static final int ACCESS_CHANGED = 0x06_2a_06;
    private static final int INQUIRY_CHANGED = 0x06_3f_03;
    private static final int LUNS_CHANGED = 0x06_3f_0e;
    private static final int NO_UNIT = 0x05_25_00;
    private static final int OUT_OF_RANGE = 0x05_21_00;
    private static final int WRITE_PROTECTED = 0x07_27_00;
    private static final int STANDBY = 0x02_04_0b;

    private final GatedDevice first;
    private final GatedDevice second;
    private final TargetSpec both;

    TargetChangesTest() throws IOException {
        first = new GatedDevice("ram:1MiB");
        second = new GatedDevice("ram:1MiB");
        both = TargetSpec.of(RawInitiator.TARGET).withLun(0, first).withLun(1, second);
    }

    @AfterEach
    void close() throws IOException {
        first.close();
        second.close();
    }

    private static TargetServer.Builder server(TargetSpec... targets) {
        var builder = TargetFixture.builder().portal(portal(0)).loops(2);
        for (TargetSpec target : targets) {
            builder.target(target);
        }
        return builder;
    }

    private static PortalSpec portal(int port) {
        return PortalSpec.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    private static RawInitiator ready(int port, String initiator) throws IOException {
        var raw = new RawInitiator(port);
        assertThat(raw.loginAs(initiator, RawInitiator.TARGET).status()).isZero();
        for (Integer lun : AccessTest.luns(raw)) {
            takeAttentions(raw, lun);
        }
        return raw;
    }

    private static void takeAttentions(RawInitiator raw, int lun) throws IOException {
        while (sense(raw, lun) >> 16 == 6) {
            // told of its reset
        }
    }

    private static RawInitiator ready(TargetServer server, String initiator) throws IOException {
        return ready(server.portals().getFirst().getPort(), initiator);
    }

    private static int sense(RawInitiator raw, int lun) throws IOException {
        return raw.command(Lun.of(lun), TEST_UNIT_READY, 0).sense();
    }

    private static long lastBlock(RawInitiator raw, int lun) throws IOException {
        byte[] data = raw.command(Lun.of(lun), RawInitiator.bytes("25 00 00000000 0000 00 00"), 8)
                .data();
        return (data[1] & 0xffL) << 16 | (data[2] & 0xff) << 8 | data[3] & 0xff;
    }

    /** Begins a write that ends when the gate opens. */
    private void beginWrite(RawInitiator raw) throws Exception {
        first.shut(1);
        raw.write(5, TargetFixture.blocks(1, 1));
        first.awaitArrivals();
    }

    private static void assertTold(AsyncEvent event, RawInitiator raw) throws IOException {
        RawInitiator.Received message = raw.receive();
        assertThat(message.opcode()).isEqualTo(AsyncMessage.OPCODE);
        assertThat(message.bhs().int8(AsyncMessage.ASYNC_EVENT)).isEqualTo(event.code());
    }

    private static void assertDone(CompletableFuture<Void> ends) throws Exception {
        ends.get(60, TimeUnit.SECONDS);
    }

    @Test
    void shouldReportAddedAndRemovedLuns() throws Exception {
        try (var server = server(both).start();
                var raw = ready(server, ONE);
                var third = new GatedDevice("ram:2MiB")) {
            assertDone(server.update(both.withLun(7, third)));
            assertThat(sense(raw, 0)).isEqualTo(LUNS_CHANGED);
            assertThat(sense(raw, 0)).isZero();
            assertThat(AccessTest.luns(raw)).containsExactly(0, 1, 7);
            assertThat(sense(raw, 1)).as("known from REPORT LUNS").isZero();
            takeAttentions(raw, 7);
            assertThat(lastBlock(raw, 7)).isEqualTo(4095);
            assertDone(server.update(both.withLun(7, third).withoutLun(1)));
            assertThat(sense(raw, 1)).isEqualTo(NO_UNIT);
            assertThat(sense(raw, 7)).isEqualTo(LUNS_CHANGED);
            assertThat(sense(raw, 0)).isEqualTo(LUNS_CHANGED);
            assertThat(sense(raw, 0)).isZero();
            assertDone(server.update(both)); // another unit at LUN 1 than before, as the host sees it
            assertThat(sense(raw, 1)).isNotZero();
            assertThat(sense(raw, 7)).isEqualTo(NO_UNIT);
            assertThat(server.unitCount()).isEqualTo(2);
        }
    }

    @Test
    void shouldReportNothingIfNothingChanges() throws Exception {
        try (var server = server(both).start(); var raw = ready(server, ONE)) {
            assertDone(server.update(both));
            assertDone(server.update(both.withAlias("another")));
            assertDone(server.update(both.withInitiator(InitiatorSpec.of(ONE))));
            assertDone(server.update(both.withInitiator(InitiatorSpec.of(ONE)
                    .withLuns(new TreeMap<>(Map.of(0, 0, 1, 1))))));
            assertThat(sense(raw, 0)).isZero();
            assertThat(sense(raw, 1)).isZero();
        }
    }

    @Test
    void shouldAnswerTheTasksOfALunThatIsTakenAway() throws Exception {
        try (var server = server(both).start(); var raw = ready(server, ONE)) {
            second.shut(1);
            int executing = raw.write(Lun.of(1), 0, TargetFixture.blocks(1, 7));
            second.awaitArrivals();
            CompletableFuture<Void> ends = server.update(both.withoutLun(1));
            assertThat(sense(raw, 1)).isEqualTo(NO_UNIT);
            assertThat(ends).isNotDone();
            second.open();
            RawInitiator.Received answer = raw.receive();
            assertThat(answer.bhs().itt()).isEqualTo(executing);
            assertThat(answer.sense()).isEqualTo(NO_UNIT);
            assertDone(ends);
            assertThat(sense(raw, 0)).isEqualTo(LUNS_CHANGED);

            // One that waits for its data, which then come too late.
            int receiving = raw.write(raw.newTag(), raw.useCmdSn(), RawInitiator.writeCdb(0, 8),
                    new byte[0], 4096, true);
            RawInitiator.Received r2t = raw.receive();
            assertThat(r2t.opcode()).isEqualTo(R2t.OPCODE);
            assertDone(server.update(TargetSpec.of(RawInitiator.TARGET)));
            answer = raw.receive();
            assertThat(answer.bhs().itt()).isEqualTo(receiving);
            assertThat(answer.sense()).isEqualTo(NO_UNIT);
            raw.dataOut(receiving, r2t.bhs().int32(20), 0, 0, true, new byte[4096]);
            raw.assertSilent();
            assertThat(server.bufferBytesInUse()).isZero();
            assertThat(server.unitCount()).isZero();
        }
    }

    @Test
    void shouldAnswerTheTasksOfALunWhoseDeviceHangs() throws Exception {
        try (var server = server(both).limits(TargetFixture.limits(600_000, 600_000, 50)).start();
                var raw = ready(server, ONE)) {
            second.shut(1);
            int hanging = raw.write(Lun.of(1), 0, TargetFixture.blocks(1, 7));
            second.awaitArrivals();
            CompletableFuture<Void> ends = server.update(both.withoutLun(1));
            RawInitiator.Received answer = raw.receive();
            assertThat(answer.bhs().itt()).isEqualTo(hanging);
            assertThat(answer.sense()).isEqualTo(NO_UNIT);
            assertDone(ends);
            assertThat(server.bufferBytesInUse()).as("the device has it").isPositive();
            second.open();
            TargetFixture.await("the end of its memory", () -> server.bufferBytesInUse() == 0);
            raw.assertSilent();
        }
    }

    @Test
    void shouldReportByAsyncMessageIfFastAbortWasNegotiated() throws Exception {
        try (var server = server(both).start();
                var raw = RawInitiator.ready(server, 1, "TaskReporting=FastAbort,RFC3720")) {
            first.shut(1);
            raw.write(0, TargetFixture.blocks(1, 7));
            first.awaitArrivals();
            CompletableFuture<Void> ends = server.update(both.withoutLun(0));
            assertTold(AsyncEvent.TASK_TERMINATION, raw);
            first.open();
            assertDone(ends);
            raw.assertSilent();
        }
    }

    @Test
    void shouldReportACapacityThatHasChanged() throws Exception {
        try (var server = server(both).start();
                var one = ready(server, ONE);
                var two = ready(server, TWO)) {
            assertThat(lastBlock(one, 0)).isEqualTo(2047);
            one.write(Lun.of(0), 2048, TargetFixture.blocks(1, 9));
            assertThat(one.receive().sense()).isEqualTo(OUT_OF_RANGE);
            first.grow(4096);
            server.checkCapacities();
            server.checkCapacities();
            for (RawInitiator raw : List.of(one, two)) {
                assertThat(sense(raw, 0)).isEqualTo(CAPACITY_CHANGED);
                assertThat(sense(raw, 0)).as("told once").isZero();
                assertThat(lastBlock(raw, 0)).isEqualTo(4095);
                assertThat(sense(raw, 1)).as("another unit").isZero();
            }
            one.write(Lun.of(0), 4095, TargetFixture.blocks(1, 9));
            assertThat(one.receive().status()).isEqualTo(Status.GOOD);
            assertThat(two.read(4095, 1)).containsOnly(9);
        }
    }

    @Test
    void shouldEndTheSessionsOfInitiatorsThatLoseAccess() throws Exception {
        try (var server = server(both).start();
                var one = ready(server, ONE);
                var two = ready(server, TWO)) {
            assertDone(server.update(both.withInitiator(InitiatorSpec.of(ONE))));
            assertTold(AsyncEvent.SESSION_DROP, two);
            assertThat(two.isClosedByTarget()).isTrue();
            assertThat(sense(one, 0)).isZero();
            try (var again = new RawInitiator(server)) {
                assertThat(again.loginAs(TWO, RawInitiator.TARGET).status()).isEqualTo(0x0202);
            }
        }
    }

    @Test
    void shouldChangeWhatAnInitiatorMayDoAndSees() throws Exception {
        InitiatorSpec initiator = InitiatorSpec.of(ONE);
        try (var server = server(both.withInitiator(initiator)).start();
                var raw = ready(server, ONE)) {
            assertDone(server.update(both.withInitiator(initiator.withReadOnly(true))));
            assertThat(sense(raw, 0)).isEqualTo(MODE_CHANGED);
            raw.write(0, TargetFixture.blocks(1, 1));
            assertThat(raw.receive().sense()).isEqualTo(WRITE_PROTECTED);
            assertDone(server.update(both.withInitiator(initiator)));
            assertThat(sense(raw, 0)).isEqualTo(MODE_CHANGED);
            raw.write(0, TargetFixture.blocks(1, 1));
            assertThat(raw.receive().status()).isEqualTo(Status.GOOD);
            // The same units at other LUNs: nothing of theirs is aborted.
            first.shut(1);
            int moving = raw.write(0, TargetFixture.blocks(1, 2));
            first.awaitArrivals();
            assertDone(server.update(
                    both.withInitiator(initiator.withLuns(new TreeMap<>(Map.of(5, 0))))));
            first.open();
            RawInitiator.Received answer = raw.receive();
            assertThat(answer.bhs().itt()).isEqualTo(moving);
            assertThat(answer.status()).isEqualTo(Status.GOOD);
            assertThat(AccessTest.luns(raw)).containsExactly(5);
            assertThat(sense(raw, 0)).isEqualTo(NO_UNIT);
        }
    }

    @Test
    void shouldChangeUnitPresentation() throws Exception {
        TargetSpec disk = TargetSpec.of(RawInitiator.TARGET);
        var unit = DiskSpec.of(first);
        try (var server = server(disk.withLun(0, unit)).start(); var raw = ready(server, ONE)) {
            assertDone(server.update(disk.withLun(0, unit.withThick(true))));
            assertThat(sense(raw, 0)).isEqualTo(INQUIRY_CHANGED);
            assertThat(sense(raw, 0)).isEqualTo(CAPACITY_CHANGED);
            assertThat(sense(raw, 0)).isZero();
            byte[] capacity = raw.command("9e 10 0000000000000000 00000020 00 00", 32).data();
            assertThat(capacity[14] & 0x80).as("LBPME").isZero();
            assertDone(server.update(disk.withLun(0, unit.withReadOnly(true))));
            raw.takeAttentions();
            raw.write(0, TargetFixture.blocks(1, 1));
            assertThat(raw.receive().sense()).isEqualTo(WRITE_PROTECTED);
        }
    }

    @Test
    void shouldSetStatesOfPortalGroups() throws Exception {
        try (var server = TargetFixture.builder().portal(portal(0)).portal(portal(0).withGroup(2))
                .target(both.withState(2, State.STANDBY)).start();
                var active = ready(server.portals().get(0).getPort(), ONE);
                var standby = ready(server.portals().get(1).getPort(), TWO)) {
            assertThat(sense(active, 0)).isZero();
            assertThat(sense(standby, 0)).isEqualTo(STANDBY);
            assertDone(server.update(both.withState(1, State.STANDBY)));
            assertThat(sense(standby, 0)).isEqualTo(ACCESS_CHANGED);
            assertThat(sense(standby, 0)).isZero();
            assertThat(sense(active, 0)).isEqualTo(ACCESS_CHANGED);
            assertThat(sense(active, 0)).isEqualTo(STANDBY);
        }
        assertThatThrownBy(() -> both.withState(1, State.OFFLINE))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /** A command keeps the units of a target that is removed, while one of its name comes with the same units. */
    @ParameterizedTest
    @CsvSource({"STANDBY, ACTIVE_OPTIMIZED, 0", "ACTIVE_OPTIMIZED, STANDBY, 132107"})
    void shouldRestoreGroupStatesOfAReaddedTarget(State before, State after,
            int told) throws Exception {
        try (var server = server(both).start(); var old = ready(server, ONE)) {
            first.shut(1);
            old.write(Lun.of(0), 0, TargetFixture.blocks(1, 2));
            first.awaitArrivals();
            server.changeAccess(RawInitiator.TARGET, 1, before);
            var removed = server.remove(RawInitiator.TARGET);
            assertDone(server.update(both.withState(1, after)));
            try (var raw = new RawInitiator(server)) {
                assertThat(raw.loginAs(TWO, RawInitiator.TARGET).status()).isZero();
                takeAttentions(raw, 0);
                assertThat(sense(raw, 0)).isEqualTo(told);
                first.open();
                assertDone(removed);
                takeAttentions(raw, 0);
                assertThat(sense(raw, 0)).isEqualTo(told);
            }
        }
    }

    @Test
    void shouldReinstateASessionOfARemovedTarget() throws Exception {
        TargetSpec other = TargetSpec.of(OTHER).withLun(0, first);
        try (var server = server(both, other).loops(1).start();
                var old = RawInitiator.ready(server, 1);
                var fresh = new RawInitiator(server);
                var later = new RawInitiator(server)) {
            PortalSpec portal = portal(server.portals().getFirst().getPort());
            beginWrite(old);
            CompletableFuture<Void> removed = server.reconfigure(
                    TargetFixture.builder().portal(portal).target(other));
            assertTold(AsyncEvent.SESSION_DROP, old);
            assertDone(server.reconfigure(
                    TargetFixture.builder().portal(portal).target(both).target(other)));
            fresh.sendLogin(RawInitiator.isid(1));
            assertThat(later.loginAs(TWO, OTHER).status()).isZero();
            later.takeAttentions(); // by now the only loop has received the login before it
            assertThat(fresh.isQuiet()).as("while the old session writes").isTrue();
            assertThat(server.sessions()).extracting(SessionStatus::tsih)
                    .containsExactly(later.tsih());
            assertThat(removed).isNotDone();

            first.open();
            assertThat(fresh.loginAnswer().status()).isZero();
            assertDone(removed);
            fresh.takeAttentions();
            fresh.write(5, TargetFixture.blocks(1, 2));
            assertThat(fresh.receive().status()).isEqualTo(Status.GOOD);
            assertThat(fresh.read(5, 1)).containsOnly(2);
        }
    }

    @Test
    void shouldCountSessionsOfARemovedTargetApart() throws Exception {
        try (var server = server(both).sessionLimits(SessionLimits.DEFAULT.withPerTarget(1))
                .start();
                var old = RawInitiator.ready(server, 1)) {
            beginWrite(old);
            CompletableFuture<Void> removed = server.remove(RawInitiator.TARGET);
            assertDone(server.update(both));
            try (var another = new RawInitiator(server); var fresh = new RawInitiator(server)) {
                assertThat(another.loginAs(TWO, RawInitiator.TARGET).status()).isZero();
                assertThat(fresh.login(RawInitiator.isid(1)).status()).isEqualTo(0x0302);
            }
            first.open();
            assertDone(removed);
            TargetFixture.await("the end of all sessions", () -> server.sessionCount() == 0);
            RawInitiator.ready(server, 1).close();
        }
    }

    @Test
    void shouldReleaseAUnitThatAnInitiatorLosesTogetherWithItsAccess() throws Exception {
        byte[] reserve = RawInitiator.bytes("16 00 00 00 00 00");
        byte[] read = RawInitiator.readCdb(0, 1);
        try (var server = server(both, TargetSpec.of(OTHER).withLun(0, second)).start();
                var one = ready(server, ONE);
                var two = new RawInitiator(server)) {
            assertThat(two.loginAs(TWO, OTHER).status()).isZero();
            two.takeAttentions();
            assertThat(one.command(Lun.of(1), reserve, 0).status()).isEqualTo(Status.GOOD);
            assertThat(two.command(read, 512).status()).isEqualTo(Status.RESERVATION_CONFLICT);
            assertDone(server.update(both.withoutLun(1).withInitiator(InitiatorSpec.of(TWO))));
            assertTold(AsyncEvent.SESSION_DROP, one);
            assertThat(two.read(0, 1)).hasSize(512);
        }
    }

    @Test
    void shouldChangeAllAtOnceOrNothing() throws Exception {
        TargetSpec other = TargetSpec.of(OTHER).withLun(0, second);
        int port = FreePorts.one(); // nobody else listens on it once it is closed
        try (var server = TargetFixture.builder().portal(portal(port)).loops(2).target(both)
                .start();
                var raw = ready(server, ONE)) {
            try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                TargetServer.Builder bad = TargetFixture.builder().portal(portal(port))
                        .portal(portal(taken.getLocalPort())).target(other);
                assertThatThrownBy(() -> server.reconfigure(bad))
                        .hasMessageContaining("127.0.0.1:" + taken.getLocalPort());
            }
            assertThatThrownBy(() -> server.reconfigure(TargetFixture.builder()
                    .portal(portal(port)).target(both).target(other.withGroups(List.of(3)))))
                    .hasMessageContaining("portal group 3");
            assertThatThrownBy(() -> server.reconfigure(TargetFixture.builder().target(other)))
                    .isInstanceOf(IllegalStateException.class);
            assertThat(server.targetNames()).containsExactly(RawInitiator.TARGET);
            assertThat(sense(raw, 0)).isZero();

            CompletableFuture<Void> ends = server.reconfigure(TargetFixture.builder()
                    .portal(portal(port)).portal(portal(0).withGroup(3))
                    .target(both.withoutLun(1)).target(other.withGroups(List.of(3)))
                    .sessionLimits(new SessionLimits(1, 1, 1)));
            assertDone(ends);
            assertThat(sense(raw, 0)).isEqualTo(LUNS_CHANGED);
            assertThat(server.portals()).hasSize(2);
            try (var late = new RawInitiator(server.portals().get(1).getPort())) {
                assertThat(late.loginAs(ONE, OTHER).status()).isEqualTo(0x0302); // the new limit
            }
            assertDone(server.reconfigure(
                    TargetFixture.builder().portal(portal(0)).target(both)));
            assertTold(AsyncEvent.LOGOUT_REQUEST, raw); // its portal is gone
            assertThatThrownBy(() -> new RawInitiator(port)).isInstanceOf(IOException.class);
        }
    }

    @Test
    void shouldRedirectSessionsOfAMovedTargetOrPortal() throws Exception {
        var moved = new Absence.Moved(new TargetAddress("192.0.2.1", 3260, OptionalInt.empty()),
                true);
        try (var server = server(both).start()) {
            try (var raw = ready(server, ONE)) {
                assertDone(server.update(both.withAbsence(moved)));
                assertTold(AsyncEvent.LOGOUT_REQUEST, raw);
                raw.write(3, TargetFixture.blocks(1, 4)); // what is in progress is still done
                assertThat(raw.receive().status()).isEqualTo(Status.GOOD);
                raw.logout();
                assertThat(raw.receive().opcode()).isEqualTo(LogoutResponse.OPCODE);
                try (var again = new RawInitiator(server)) {
                    assertThat(again.loginAs(ONE, RawInitiator.TARGET).status()).isEqualTo(0x0102);
                }
            }
            assertDone(server.update(both));
            int port = server.portals().getFirst().getPort();
            try (var raw = ready(server, ONE)) {
                assertDone(server.reconfigure(TargetFixture.builder()
                        .portal(portal(port).withMoved(moved)).target(both)));
                assertTold(AsyncEvent.LOGOUT_REQUEST, raw);
                try (var again = new RawInitiator(server)) {
                    assertThat(again.loginAs(TWO, RawInitiator.TARGET).status())
                            .isEqualTo(0x0102);
                }
            }
        }
    }

    @Test
    void shouldAskForLogoutWhenAPortalMovesToAnotherGroup() throws Exception {
        try (var server = server(both).start(); var raw = ready(server, ONE)) {
            int port = server.portals().getFirst().getPort();
            assertDone(server.reconfigure(TargetFixture.builder()
                    .portal(portal(port).withGroup(2)).target(both)));
            assertTold(AsyncEvent.LOGOUT_REQUEST, raw);
            try (var again = new RawInitiator(port)) {
                assertThat(again.loginAs(ONE, RawInitiator.TARGET).keys())
                        .contains("TargetPortalGroupTag=2\0");
                assertThat(raw.isClosedByTarget()).as("without a logout").isTrue();
                TargetFixture.await("its end", () -> server.sessionCount() == 1);
            }
        }
    }

    @Test
    void shouldAskForLogoutWhenATargetLeavesAPortalGroup() throws Exception {
        try (var server = server(both).portal(portal(0).withGroup(2)).start();
                var raw = ready(server, ONE)) {
            assertDone(server.update(both.withGroups(List.of(2))));
            assertTold(AsyncEvent.LOGOUT_REQUEST, raw);
            try (var again = new RawInitiator(server)) {
                assertThat(again.loginAs(ONE, RawInitiator.TARGET).status()).isEqualTo(0x0203);
            }
            assertThat(raw.isClosedByTarget()).as("without a logout").isTrue();
        }
    }

    /** No login can continue it. */
    @Test
    void shouldEndAKeptSessionWhosePortalGroupIsGone() throws Exception {
        SessionLimits patient = SessionLimits.DEFAULT
                .withMaxTime2RetainSeconds(SessionLimits.MAX_SECONDS);
        try (var server = server(both).sessionLimits(patient).start()) {
            try (var lost = new RawInitiator(server)) {
                assertThat(lost.login(RawInitiator.isid(1), "ErrorRecoveryLevel=2",
                        "DefaultTime2Retain=" + SessionLimits.MAX_SECONDS).status()).isZero();
            }
            TargetFixture.await("its loss", () -> server.connectionCount() == 0);
            assertThat(server.sessionCount()).isOne();
            int port = server.portals().getFirst().getPort();
            assertDone(server.reconfigure(TargetFixture.builder().sessionLimits(patient)
                    .portal(portal(port).withGroup(2)).target(both)));
            TargetFixture.await("its end", () -> server.sessionCount() == 0);
        }
    }

    @Test
    void shouldRequestLogoutAndRejectLoginsOnShutdown() throws Exception {
        try (var server = server(both).start();
                var raw = ready(server, ONE);
                var late = new RawInitiator(server)) {
            CompletableFuture<Void> shutDown = CompletableFuture
                    .runAsync(() -> server.shutDown(Duration.ofMinutes(5)));
            assertTold(AsyncEvent.LOGOUT_REQUEST, raw);
            assertThat(late.loginAs(TWO, RawInitiator.TARGET).status()).isEqualTo(0x0301);
            try (var later = new RawInitiator(server)) {
                assertThat(later.loginAs(TWO, RawInitiator.TARGET).status()).isEqualTo(0x0301);
            }
            raw.write(3, TargetFixture.blocks(1, 4)); // what is in progress is still done
            assertThat(raw.receive().status()).isEqualTo(Status.GOOD);
            assertThat(shutDown).isNotDone();
            raw.logout();
            assertThat(raw.receive().opcode()).isEqualTo(LogoutResponse.OPCODE);
            assertDone(shutDown);
            assertThat(server.sessionCount()).isZero();
        }
        byte[] block = new byte[512];
        first.read(3, MemorySegment.ofArray(block));
        assertThat(block).containsOnly(4);
    }
}
