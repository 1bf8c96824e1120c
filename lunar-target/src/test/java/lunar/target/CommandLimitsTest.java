package lunar.target;

import static lunar.iscsi.pdu.TaskManagementResponseCode.FUNCTION_COMPLETE;
import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.iscsi.pdu.TaskAttribute;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.scsi.Lun;
import lunar.scsi.Status;
import lunar.target.status.CommandCounts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that limits delay the commands that they are meant for, and no others. */
@Timeout(300)
class CommandLimitsTest {
    /** Those of other tests, except that {@link #held} can read so much. */
    private static final ServerLimits LIMITS = limits();
    /** Delays what comes during a {@link #held} command by 9 s. */
    private static final IoLimit SLOW = IoLimit.parse("1MiB,burst=1ms");
    private static final IoLimit FAST = IoLimit.parse("1000000iops");
    private static final byte[] TEST_UNIT_READY = new byte[6];
    private static final int SEVERAL = 8;
    /** The block of the READ that the device does not end. */
    private static final int HELD = 100;

    private static ServerLimits limits() {
        ServerLimits usual = TargetFixture.LIMITS;
        return new ServerLimits(usual.maxConnections(), usual.loginTimeoutMs(),
                usual.commandsPerSession(), usual.immediateCommandsPerSession(), 16 << 20,
                usual.maxBufferBytes(), usual.maxBufferBytesPerSession(), usual.maxQueuedBytes(),
                usual.idleMs(), usual.abortTimeoutMs());
    }

    private static TargetFixture fixture(int moreUnits) throws IOException {
        return new TargetFixture(LIMITS, moreUnits, "ram:16MiB", unit -> unit);
    }

    private static void change(TargetFixture target, UnaryOperator<TargetSpec> how)
            throws IOException {
        TargetSpec before = target.server.spec(RawInitiator.TARGET).orElseThrow();
        target.server.update(how.apply(before)).join();
    }

    private static void limit(TargetFixture target, IoLimit limit) throws IOException {
        change(target, spec -> spec.withLimit(0, limit));
    }

    private static CommandCounts counts(TargetFixture target, int lun) {
        return target.server.commands(RawInitiator.TARGET, lun);
    }

    /** VERIFY(10) of a block without data (SBC-4 section 5.36). */
    private static byte[] verify(int lba) {
        return new byte[]{0x2f, 0, 0, 0, 0, (byte) lba, 0, 0, 1, 0};
    }

    private static int verify(RawInitiator initiator, int lun, int expectedBytes)
            throws IOException {
        return initiator.send(Lun.of(lun), TaskAttribute.SIMPLE, 0, verify(lun), expectedBytes);
    }

    /** Sends a READ that takes nine seconds of {@link #SLOW}, and that the device does not end. */
    private static int held(TargetFixture target, RawInitiator initiator) throws Exception {
        target.device.shut(1, request -> request.lba() == HELD);
        int tag = initiator.send(RawInitiator.readCdb(HELD, 9 << 11), 9 << 20);
        target.device.awaitArrivals();
        return tag;
    }

    /** Aborts the READ, which is charged nevertheless, and has the device end it. */
    private static void release(TargetFixture target, RawInitiator initiator, int held)
            throws IOException {
        int abort = initiator.manage(TaskManagementFunction.ABORT_TASK, held);
        initiator.assertSilent(); // the target has got that
        target.device.open();
        assertThat(initiator.managed(abort)).isEqualTo(FUNCTION_COMPLETE.code());
    }

    private static List<Integer> several(RawInitiator initiator, int lun) throws IOException {
        var tags = new ArrayList<Integer>();
        for (int i = 0; i < SEVERAL; i++) {
            tags.add(verify(initiator, lun, 0));
        }
        return tags;
    }

    private static List<Integer> with(List<Integer> tags, int more) {
        var all = new ArrayList<>(tags);
        all.add(more);
        return all;
    }

    /** Receives the responses of these commands, which a device may end in any order. */
    private static void assertGood(RawInitiator initiator, List<Integer> tags)
            throws IOException {
        var answered = new ArrayList<Integer>();
        for (int i = 0; i < tags.size(); i++) {
            RawInitiator.Received answer = initiator.receive();
            assertThat(answer.status()).isEqualTo(Status.GOOD);
            answered.add(answer.bhs().itt());
        }
        assertThat(answered).containsExactlyInAnyOrderElementsOf(tags);
    }

    /** Takes the unit attention of LUN 1. */
    private static void greet(RawInitiator initiator) throws IOException {
        initiator.send(Lun.of(1), TaskAttribute.SIMPLE, 0, TEST_UNIT_READY, 0);
        initiator.receive();
    }

    @Test
    void shouldDelayAccessesToTheMediumAndNothingElse() throws Exception {
        try (var target = fixture(0); var initiator = target.ready(1)) {
            limit(target, SLOW);
            int held = held(target, initiator);
            List<Integer> delayed = several(initiator, 0);
            int write = initiator.write(7, blocks(1, 9));
            assertGood(initiator, List.of(initiator.send(TEST_UNIT_READY, 0)));
            assertThat(counts(target, 0).delayed()).isEqualTo(SEVERAL + 1);
            limit(target, FAST);
            assertGood(initiator, with(delayed, write));
            assertThat(target.onDevice(7, 1)).isEqualTo(blocks(1, 9));
            release(target, initiator, held);
            assertThat(counts(target, 0).inFlight()).isZero();
        }
    }

    @Test
    void shouldBeginDelayedCommandsWhenTheirTimeHasCome() throws Exception {
        try (var target = fixture(0); var initiator = target.ready(1)) {
            limit(target, IoLimit.parse("20iops,burst=1ms"));
            assertGood(initiator, several(initiator, 0));
        }
    }

    @Test
    void shouldBeginDelayedCommandsAfterBothLimits() throws Exception {
        try (var target = fixture(0); var initiator = target.ready(1)) {
            change(target, spec -> spec.withLimit(0, IoLimit.parse("20iops,burst=1ms"))
                    .withInitiator(InitiatorSpec.of(RawInitiator.NAME)
                            .withLimit(IoLimit.parse("30iops,burst=1ms"))));
            assertGood(initiator, several(initiator, 0));
            assertThat(counts(target, 0).inFlight()).isZero();
        }
    }

    @Test
    void shouldChargeWhatWasTransferredRatherThanDeclared() throws Exception {
        try (var target = fixture(0); var initiator = target.ready(1)) {
            limit(target, SLOW);
            for (int i = 0; i < SEVERAL; i++) {
                initiator.send(RawInitiator.readCdb(0, 1), 9 << 20);
                initiator.receive();
            }
            assertGood(initiator, several(initiator, 0));
            assertThat(counts(target, 0).busy()).isZero();
            for (int i = 0; i < 3; i++) { // of 1 MiB, which takes a second
                initiator.send(RawInitiator.readCdb(0, 2048), 0);
            }
            int last = verify(initiator, 0, 0);
            while (initiator.receive().bhs().itt() != last) {
                // the reads
            }
            assertThat(counts(target, 0).delayed()).isPositive();
        }
    }

    @Test
    void shouldLimitAUnitForAllSessionsTogetherAndNoOtherUnit() throws Exception {
        try (var target = fixture(1);
                var one = target.ready(1);
                var other = target.ready(2)) {
            greet(other);
            limit(target, SLOW);
            int held = held(target, one);
            int delayed = verify(other, 0, 0);
            assertGood(other, several(other, 1));
            assertThat(counts(target, 0).delayed()).isEqualTo(1);
            assertThat(counts(target, 1).delayed()).isZero();
            limit(target, FAST);
            assertGood(other, List.of(delayed));
            release(target, one, held);
        }
    }

    @Test
    void shouldLimitAnInitiatorAtAllUnits() throws Exception {
        try (var target = fixture(1);
                var limited = target.ready(1)) {
            greet(limited);
            change(target, spec -> spec
                    .withInitiator(InitiatorSpec.of(RawInitiator.NAME).withLimit(SLOW))
                    .withInitiator(InitiatorSpec.of(InitiatorSpec.ANYBODY)));
            int held = held(target, limited);
            List<Integer> delayed = several(limited, 0);
            int other = verify(limited, 1, 0);
            limited.assertSilent();
            assertThat(counts(target, 0).delayed()).isEqualTo(SEVERAL);
            assertThat(counts(target, 1).delayed()).isEqualTo(1);
            change(target, CommandLimitsTest::open);
            assertGood(limited, with(delayed, other));
            release(target, limited, held);
        }
    }

    /** Returns the spec without initiators and limits. */
    private static TargetSpec open(TargetSpec spec) {
        TargetSpec open = TargetSpec.of(spec.name());
        for (var lun : spec.luns().entrySet()) {
            open = open.withLun(lun.getKey(), lun.getValue());
        }
        return open;
    }

    @Test
    void shouldLimitEachInitiatorOfAPatternByItself() throws Exception {
        try (var target = fixture(0);
                var one = target.ready(1);
                var other = new RawInitiator(target.server)) {
            other.loginAs("iqn.2026-11.org.lunar:other", RawInitiator.TARGET);
            other.takeAttentions();
            change(target, spec -> spec
                    .withInitiator(InitiatorSpec.of(InitiatorSpec.ANYBODY).withLimit(SLOW)));
            int held = held(target, one);
            int delayed = verify(one, 0, 0);
            assertGood(other, List.of(verify(other, 0, 0)));
            one.assertSilent();
            change(target, CommandLimitsTest::open);
            assertGood(one, List.of(delayed));
            release(target, one, held);
        }
    }

    @Test
    void shouldAbortADelayedCommandAtOnce() throws Exception {
        try (var target = fixture(0); var initiator = target.ready(1)) {
            limit(target, SLOW);
            int held = held(target, initiator);
            List<Integer> delayed = several(initiator, 0);
            int abort = initiator.manage(TaskManagementFunction.ABORT_TASK, delayed.getLast());
            assertThat(initiator.managed(abort)).isEqualTo(FUNCTION_COMPLETE.code());
            assertThat(counts(target, 0).aborted()).isEqualTo(1);
            limit(target, FAST);
            assertGood(initiator, delayed.subList(0, SEVERAL - 1));
            initiator.assertSilent();
            release(target, initiator, held);
        }
    }

    @Test
    void shouldAbortDelayedCommandsForAResetOfTheUnit() throws Exception {
        try (var target = fixture(0);
                var one = target.ready(1);
                var other = target.ready(2)) {
            limit(target, SLOW);
            held(target, one);
            several(one, 0);
            one.write(7, blocks(1, 9));
            one.assertSilent();
            int reset = other.manage(TaskManagementFunction.LOGICAL_UNIT_RESET, -1);
            TargetFixture.await("the end of those that were delayed",
                    () -> counts(target, 0).aborted() == SEVERAL + 1);
            target.device.open();
            assertThat(other.managed(reset)).isEqualTo(FUNCTION_COMPLETE.code());
            TargetFixture.await("the end of all",
                    () -> counts(target, 0).aborted() == SEVERAL + 2);
            limit(target, FAST);
            one.assertSilent();
            assertThat(target.onDevice(7, 1)).isEqualTo(blocks(1, 0));
        }
    }

    @Test
    void shouldNotBeginCommandsOfAUnitThatIsRemoved() throws Exception {
        try (var target = fixture(1);
                var initiator = target.ready(1)) {
            greet(initiator);
            change(target, spec -> spec.withLimit(0, SLOW).withInitiator(
                    InitiatorSpec.of(RawInitiator.NAME).withReadOnly(true)));
            initiator.takeAttentions();
            held(target, initiator);
            initiator.write(7, blocks(1, 9));
            initiator.assertSilent();
            TargetSpec before = target.server.spec(RawInitiator.TARGET).orElseThrow();
            var removed = target.server.update(before.withoutLun(0));
            target.device.open();
            removed.join();
            assertThat(target.onDevice(7, 1)).isEqualTo(blocks(1, 0));
        }
    }

    @Test
    void shouldCheckReservationsWhenADelayedCommandBegins() throws Exception {
        try (var target = fixture(0);
                var one = target.ready(1);
                var other = target.ready(2)) {
            limit(target, SLOW);
            int held = held(target, one);
            int write = one.write(7, blocks(1, 9));
            one.assertSilent();
            assertGood(other, List.of(other.send(new byte[]{0x16, 0, 0, 0, 0, 0}, 0)));
            limit(target, FAST);
            RawInitiator.Received answer = one.receive();
            assertThat(answer.bhs().itt()).isEqualTo(write);
            assertThat(answer.status()).isEqualTo(Status.RESERVATION_CONFLICT);
            release(target, one, held);
        }
    }

    @Test
    void shouldDeclineWhatWouldBeDelayedTooLongIfOtherCommandsAre() throws Exception {
        try (var target = fixture(0);
                var initiator = target.ready(1);
                var other = target.ready(2)) {
            limit(target, SLOW);
            int held = held(target, initiator);
            int delayed = initiator.send(RawInitiator.readCdb(0, 9 << 11), 0);
            int declined = verify(initiator, 0, 0);
            RawInitiator.Received answer = initiator.receive();
            assertThat(answer.status()).isEqualTo(Status.TASK_SET_FULL);
            assertThat(answer.bhs().itt()).isEqualTo(declined);
            assertThat(counts(target, 0).busy()).isEqualTo(1);
            int only = verify(other, 0, 0);
            other.assertSilent();
            limit(target, FAST);
            assertGood(initiator, List.of(delayed));
            assertGood(other, List.of(only));
            release(target, initiator, held);
        }
    }

    @Test
    void shouldGiveBackTheTimeOfAbortedCommands() throws Exception {
        try (var target = fixture(0); var initiator = target.ready(1)) {
            limit(target, SLOW);
            int held = held(target, initiator);
            int kept = verify(initiator, 0, 0);
            for (int i = 0; i < SEVERAL; i++) {
                int abort = initiator.manage(TaskManagementFunction.ABORT_TASK,
                        initiator.send(RawInitiator.readCdb(0, 9 << 11), 0));
                assertThat(initiator.managed(abort)).isEqualTo(FUNCTION_COMPLETE.code());
            }
            assertThat(counts(target, 0).busy()).isZero();
            limit(target, FAST);
            assertGood(initiator, List.of(kept));
            release(target, initiator, held);
        }
    }

    @Test
    void shouldNotBeginAnewForAnInitiatorThatLogsInAgain() throws Exception {
        try (var target = fixture(0)) {
            change(target, spec -> spec
                    .withInitiator(InitiatorSpec.of(InitiatorSpec.ANYBODY).withLimit(SLOW)));
            try (var initiator = target.ready(1)) {
                initiator.send(RawInitiator.readCdb(0, 9 << 11), 0); // which takes nine seconds
                initiator.receive();
                initiator.logout();
            }
            TargetFixture.await("the end of the session",
                    () -> target.server.sessionCount() == 0);
            long before = counts(target, 0).delayed();
            try (var again = target.ready(1)) {
                int delayed = verify(again, 0, 0);
                again.assertSilent();
                assertThat(counts(target, 0).delayed()).isGreaterThan(before);
                change(target, CommandLimitsTest::open);
                assertGood(again, List.of(delayed));
            }
        }
    }

    @Test
    void shouldEndDelayedCommandsWithTheirSession() throws Exception {
        try (var target = fixture(0)) {
            limit(target, SLOW);
            try (var initiator = target.ready(1)) {
                held(target, initiator);
                several(initiator, 0);
                initiator.assertSilent();
            }
            target.device.open();
            TargetFixture.await("the end of the session",
                    () -> target.server.sessionCount() == 0);
            assertThat(target.server.bufferBytesInUse()).isZero();
        }
    }

    @Test
    void shouldKeepTheOrderOfTaskAttributes() throws Exception {
        try (var target = fixture(0); var initiator = target.ready(1)) {
            limit(target, SLOW);
            int held = held(target, initiator);
            int delayed = verify(initiator, 0, 0);
            int ordered = initiator.send(Lun.ZERO, TaskAttribute.ORDERED, 0, TEST_UNIT_READY, 0);
            int head = initiator.send(Lun.ZERO, TaskAttribute.HEAD_OF_QUEUE, 0, TEST_UNIT_READY,
                    0);
            assertGood(initiator, List.of(head));
            initiator.assertSilent();
            limit(target, FAST);
            assertGood(initiator, List.of(delayed));
            initiator.assertSilent();
            release(target, initiator, held);
            assertGood(initiator, List.of(ordered));
        }
    }

    @Test
    void shouldHaveOneLimitForADeviceAtSeveralLuns() {
        try (BlockDevice disk = Devices.open("ram:1MiB")) {
            TargetSpec spec = TargetSpec.of(RawInitiator.TARGET).withLun(0, disk).withLun(5, disk)
                    .withLimit(0, SLOW).withLimit(5, FAST);
            assertThat(spec.limits().values()).containsExactly(FAST);
            assertThat(spec.withoutLun(0).limits().values()).containsExactly(FAST);
            assertThat(spec.withoutLun(0).withoutLun(5).limits()).isEmpty();
            assertThatThrownBy(() -> spec.withLimit(1, SLOW))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("does not exist");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
