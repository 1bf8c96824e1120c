package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import lunar.iscsi.pdu.AsyncMessage;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.scsi.Lun;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import lunar.target.status.CommandCounts;
import lunar.target.status.SessionStatus;
import org.junit.jupiter.api.Test;

/** Tests what a server tells operators about its sessions and commands, and that it ends a session for them. */
class StatusTest {
    private static final int BLOCK = 512;
    private static final String OTHER = "iqn.2026-11.org.lunar:other";

    private static CommandCounts counts(TargetFixture target) {
        return target.server.commands(RawInitiator.TARGET, 0);
    }

    @Test
    void shouldTellWhoIsLoggedIn() throws Exception {
        try (var target = new TargetFixture()) {
            assertThat(target.server.sessions()).isEmpty();
            try (var initiator = target.ready(1, "ErrorRecoveryLevel=1");
                    var _ = target.ready(2)) {
                assertThat(target.server.sessions()).hasSize(2);
                SessionStatus session = target.server.sessions().stream()
                        .filter(one -> one.tsih() == initiator.tsih()).findFirst().orElseThrow();
                assertThat(session.initiatorName()).isEqualTo(RawInitiator.NAME);
                assertThat(session.isid()).isEqualTo(RawInitiator.isid(1));
                assertThat(session.targetName()).isEqualTo(RawInitiator.TARGET);
                assertThat(session.chapUser()).isEmpty();
                assertThat(session.parameters().errorRecoveryLevel()).isEqualTo(1);
                assertThat(session.since()).isBetween(Instant.now().minusSeconds(600),
                        Instant.now());
                assertThat(session.connections()).singleElement().satisfies(connection -> {
                    assertThat(connection.transport()).isEqualTo("iscsi");
                    assertThat(connection.initiator().getPort()).isEqualTo(initiator.localPort());
                    assertThat(connection.portal())
                            .isEqualTo(target.server.portals().getFirst());
                });
            }
            TargetFixture.await("the logouts", () -> target.server.sessions().isEmpty());
        }
    }

    @Test
    void shouldListTheConnectionsOfASession() throws Exception {
        try (var target = new TargetFixture();
                var initiator = target.ready(1, "MaxConnections=2");
                var second = initiator.another(target.server, RawInitiator.isid(1), 1)) {
            assertThat(second.loginAnswer().status()).isZero();
            TargetFixture.await("the connection",
                    () -> target.server.sessions().getFirst().connections().size() == 2);
            assertThat(target.server.sessions().getFirst().connections())
                    .extracting(connection -> connection.cid()).containsExactly(0, 1);
        }
    }

    @Test
    void shouldCountReadsAndWritesOfSessionAndUnit() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            CommandCounts before = counts(target);
            initiator.write(8, TargetFixture.blocks(4, 7));
            assertThat(initiator.receive().status()).isEqualTo(Status.GOOD);
            assertThat(initiator.read(8, 2)).hasSize(2 * BLOCK);
            assertThat(initiator.read(8, 1)).hasSize(BLOCK);
            CommandCounts after = counts(target);
            assertThat(after.writes().count() - before.writes().count()).isEqualTo(1);
            assertThat(after.reads().count() - before.reads().count()).isEqualTo(2);
            assertThat(after.writtenBytes() - before.writtenBytes()).isEqualTo(4 * BLOCK);
            assertThat(after.readBytes() - before.readBytes()).isEqualTo(3 * BLOCK);
            assertThat(after.reads().totalNanos()).isPositive();
            assertThat(after.inFlight()).isZero();
            assertThat(target.server.sessions().getFirst().commands()).isEqualTo(after);
        }
    }

    @Test
    void shouldKeepTheCountsOfSessionsThatHaveEnded() throws Exception {
        try (var target = new TargetFixture()) {
            CommandCounts during;
            try (var initiator = target.ready(1)) {
                assertThat(initiator.read(0, 1)).hasSize(BLOCK);
                during = counts(target);
                initiator.logout();
            }
            TargetFixture.await("the logout", () -> target.server.sessions().isEmpty());
            assertThat(counts(target)).isEqualTo(during);
            assertThat(target.server.commands(RawInitiator.TARGET, 9))
                    .isEqualTo(CommandCounts.NONE);
        }
    }

    @Test
    void shouldKeepTheCountsOfAUnitThatIsHiddenAndShownAgain() throws Exception {
        try (var device = new GatedDevice("ram:1MiB");
                var hidden = new GatedDevice("ram:1MiB")) {
            TargetSpec both = TargetSpec.of(RawInitiator.TARGET).withLun(0, hidden)
                    .withLun(1, device);
            InitiatorSpec all = InitiatorSpec.of(RawInitiator.NAME);
            try (var server = TargetFixture.builder().portal("127.0.0.1", 0)
                    .target(both.withInitiator(all)).start()) {
                try (var initiator = RawInitiator.ready(server, 1)) {
                    assertThat(initiator.read(0, 1)).hasSize(BLOCK);
                    CommandCounts before = server.commands(RawInitiator.TARGET, 0);
                    await(server.update(both.withInitiator(
                            all.withLuns(new TreeMap<>(Map.of(1, 1))))));
                    awaitLoop(initiator);
                    assertThat(server.commands(RawInitiator.TARGET, 0)).isEqualTo(before);
                    await(server.update(both.withInitiator(all)));
                    assertReadIsCounted(server, initiator);
                    await(server.update(both.withInitiator(
                            all.withLuns(new TreeMap<>(Map.of(1, 1))))));
                }
                TargetFixture.await("the end", () -> server.sessions().isEmpty());
                assertThat(server.commands(RawInitiator.TARGET, 0).reads().count())
                        .as("of a session that did not see the unit when it ended").isEqualTo(2);
            }
        }
    }

    @Test
    void shouldCountTheCommandsOfAUnitThatIsRemovedAndServedAgain() throws Exception {
        try (var device = new GatedDevice("ram:1MiB");
                var shared = new GatedDevice("ram:1MiB")) {
            TargetSpec both = TargetSpec.of(RawInitiator.TARGET).withLun(0, shared)
                    .withLun(1, device);
            try (var server = TargetFixture.builder().portal("127.0.0.1", 0).target(both)
                    .target(TargetSpec.of(OTHER).withLun(0, shared)).start(); // keeps the unit
                    var initiator = RawInitiator.ready(server, 1)) {
                assertThat(initiator.read(0, 1)).hasSize(BLOCK);
                CommandCounts session = server.sessions().getFirst().commands();
                await(server.update(both.withoutLun(0)));
                awaitLoop(initiator);
                assertThat(server.sessions().getFirst().commands().reads())
                        .isEqualTo(session.reads());
                await(server.update(both));
                assertThat(server.commands(RawInitiator.TARGET, 0)).isEqualTo(CommandCounts.NONE);
                assertReadIsCounted(server, initiator);
            }
        }
    }

    private static void await(CompletableFuture<Void> change) throws Exception {
        change.get(60, TimeUnit.SECONDS);
    }

    /** Waits until the event loop of a session has run what it was given before. */
    private static void awaitLoop(RawInitiator initiator) throws Exception {
        initiator.command(Lun.of(1), new byte[6], 0);
    }

    private static void assertReadIsCounted(TargetServer server, RawInitiator initiator)
            throws Exception {
        while (initiator.command(new byte[6], 0).sense() >> 16 == SenseKey.UNIT_ATTENTION.code()) {
            // told of the change
        }
        CommandCounts before = server.commands(RawInitiator.TARGET, 0);
        assertThat(initiator.read(0, 1)).hasSize(BLOCK);
        assertThat(server.commands(RawInitiator.TARGET, 0).reads().count())
                .isEqualTo(before.reads().count() + 1);
    }

    @Test
    void shouldCountErrorsBySenseKey() throws Exception {
        try (var target = new TargetFixture("fault=0,lba=10-10:ram:1MiB", unit -> unit);
                var initiator = target.ready(1)) {
            CommandCounts before = counts(target);
            initiator.command(RawInitiator.readCdb(10, 1), BLOCK);
            initiator.command("28 00 7fffffff 00 0001 00", BLOCK); // beyond the end
            CommandCounts after = counts(target);
            assertThat(after.conditions().get(SenseKey.MEDIUM_ERROR)).isEqualTo(1L);
            assertThat(after.conditions().get(SenseKey.ILLEGAL_REQUEST)
                    - before.conditions().getOrDefault(SenseKey.ILLEGAL_REQUEST, 0L))
                    .isEqualTo(1);
            assertThat(after.reads()).isEqualTo(before.reads());
        }
    }

    @Test
    void shouldCountWhatIsInFlightAndWhatIsAborted() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            target.device.shut(1);
            int tag = initiator.send(RawInitiator.readCdb(0, 1), BLOCK);
            target.device.awaitArrivals();
            TargetFixture.await("the command", () -> counts(target).inFlight() == 1);
            int abort = initiator.manage(TaskManagementFunction.ABORT_TASK, tag);
            initiator.assertSilent(); // while the device has the command
            target.device.open();
            assertThat(initiator.managed(abort)).isZero();
            TargetFixture.await("its end", () -> counts(target).inFlight() == 0);
            assertThat(counts(target).aborted()).isEqualTo(1);
        }
    }

    @Test
    void shouldAskAnInitiatorToLogOut() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            var end = target.server.logOut(initiator.tsih(), Duration.ofSeconds(60)).orElseThrow();
            RawInitiator.Received asked = initiator.receive();
            assertThat(asked.opcode()).isEqualTo(AsyncMessage.OPCODE);
            initiator.logout();
            end.get(60, TimeUnit.SECONDS);
            assertThat(target.server.sessions()).isEmpty();
        }
    }

    @Test
    void shouldEndTheSessionOfAnInitiatorThatDoesNotLogOut() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            target.server.logOut(initiator.tsih(), Duration.ofMillis(100)).orElseThrow()
                    .get(60, TimeUnit.SECONDS);
            assertThat(target.server.sessions()).isEmpty();
        }
    }

    @Test
    void shouldKnowNoSessionOfAnotherTsih() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            assertThat(target.server.logOut(initiator.tsih() + 1, Duration.ZERO)).isEmpty();
        }
    }
}
