package lunar.target;

import static lunar.iscsi.pdu.TaskManagementResponseCode.FUNCTION_COMPLETE;
import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.NopIn;
import lunar.iscsi.pdu.R2t;
import lunar.iscsi.pdu.Reject;
import lunar.iscsi.pdu.TaskAttribute;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.iscsi.pdu.TaskManagementResponse;
import lunar.scsi.Lun;
import lunar.scsi.Status;
import org.junit.jupiter.api.Test;

/** Tests that a hanging unit or a misbehaving peer does not affect other sessions. */
class TargetIsolationTest {
    private static final Lun OTHER = Lun.of(1);
    private static final int STORM = 10_000;
    private static final int TIMED_OUT = 0x0b_4b_06;

    @Test
    void shouldServeOtherUnitsAndSessionsWhileOneUnitHangsAtItsLimit() throws Exception {
        TargetFixture.withTimeout(100, 8_000, TargetIsolationTest::serveWhileOneUnitHangs);
    }

    private static void serveWhileOneUnitHangs(long abortMs) throws Exception {
        try (var target = new TargetFixture(TargetFixture.limits(600_000, 600_000, abortMs), 2);
                var initiator = ready(target, 1);
                var other = ready(target, 2)) {
            int taken = fill(target, initiator);
            assertThat(taken).isGreaterThanOrEqualTo(ServerLimits.DEFAULT.commandsPerSession());

            for (int i = 0; i < 3; i++) {
                for (RawInitiator each : new RawInitiator[]{initiator, other}) {
                    each.write(OTHER, 1, blocks(1, i));
                    assertThat(each.receive().status()).isEqualTo(Status.GOOD);
                }
            }
            try (var third = ready(target, 3)) {
                third.logout();
                assertThat(third.receive().opcode()).isEqualTo(0x26);
            }
            int reset = other.manage(TaskManagementFunction.LOGICAL_UNIT_RESET, OTHER, Bhs.NO_TAG,
                    other.cmdSn(), 0);
            assertThat(other.managed(reset)).isEqualTo(FUNCTION_COMPLETE.code());

            int abort = initiator.manage(TaskManagementFunction.ABORT_TASK_SET, Bhs.NO_TAG);
            assertThat(initiator.managed(abort)).isEqualTo(FUNCTION_COMPLETE.code());
            // What the unit has not let go of still counts: it cannot be filled anew and anew.
            initiator.send(new byte[6], 0);
            assertThat(initiator.receive().status()).isEqualTo(Status.TASK_SET_FULL);
            target.device.open();
            TargetFixture.await("memory comes back", () -> target.server.bufferBytesInUse() == 0);
            initiator.send(new byte[6], 0);
            assertThat(initiator.receive().status()).isEqualTo(Status.GOOD);
        }
    }

    @Test
    void shouldLeaveCapacityEvenIfManyUnitsHang() throws Exception {
        try (var target = new TargetFixture(TargetFixture.limits(600_000, 600_000, 100), 5);
                var initiator = ready(target, 1)) {
            for (int lun = 0; lun < 5; lun++) {
                GatedDevice device = lun == 0 ? target.device : target.more.get(lun - 1);
                device.shut(Integer.MAX_VALUE);
                int sent = 0;
                while (true) {
                    initiator.write(Lun.of(lun), 0, blocks(1, 1));
                    sent++;
                    int ping = initiator.ping();
                    RawInitiator.Received answer = initiator.receive();
                    if (answer.bhs().itt() != ping) {
                        assertThat(answer.status()).isEqualTo(Status.TASK_SET_FULL);
                        assertThat(initiator.receive().bhs().itt()).isEqualTo(ping);
                        break;
                    }
                }
                assertThat(sent).isGreaterThan(1);
            }
            initiator.write(Lun.of(5), 0, blocks(1, 1));
            assertThat(initiator.receive().status()).isEqualTo(Status.GOOD);
        }
    }

    @Test
    void shouldLeaveMemoryToOtherUnits() throws Exception {
        int bytes = 256 << 10;
        var limits = new ServerLimits(16, 600_000, 128, 16, bytes, 16L * bytes, 16L * bytes,
                16L << 20, 600_000, 100);
        try (var target = new TargetFixture(limits, 1);
                var initiator = ready(target, 1, "ImmediateData=Yes");
                var other = ready(target, 2)) {
            target.device.shut(Integer.MAX_VALUE);
            int busy = 0;
            for (int i = 0; i < 16; i++) {
                initiator.send(RawInitiator.readCdb(0, bytes / 512), bytes);
                int ping = initiator.ping();
                RawInitiator.Received answer = initiator.receive();
                if (answer.bhs().itt() != ping) {
                    assertThat(answer.status()).isEqualTo(Status.BUSY);
                    busy++;
                    assertThat(initiator.receive().bhs().itt()).isEqualTo(ping);
                }
            }
            assertThat(busy).isPositive();

            for (RawInitiator each : new RawInitiator[]{initiator, other}) {
                each.write(OTHER, 1, blocks(1, 7));
                assertThat(each.receive().status()).isEqualTo(Status.GOOD);
            }
        }
    }

    @Test
    void shouldGiveUpWriteWhoseDataDoNotArrive() throws Exception {
        TargetFixture.withTimeout(500, 12_000, TargetIsolationTest::sendNoData);
    }

    private static void sendNoData(long idleMs) throws Exception {
        try (var target = new TargetFixture(TargetFixture.limits(600_000, idleMs, 100));
                var initiator = target.ready(1, "ImmediateData=No", "InitialR2T=Yes")) {
            int write = initiator.write(initiator.newTag(), initiator.useCmdSn(),
                    RawInitiator.writeCdb(0, 2), new byte[0], 1024, true);
            RawInitiator.Received answer = initiator.receive();
            assertThat(answer.opcode()).isEqualTo(R2t.OPCODE);
            while (answer.bhs().itt() != write || answer.opcode() == R2t.OPCODE) {
                initiator.ping();
                answer = initiator.receive();
                if (answer.opcode() == NopIn.OPCODE && answer.bhs().itt() == Bhs.NO_TAG) {
                    initiator.answerPing(answer.bhs().int32(20));
                }
            }
            assertThat(answer.sense()).isEqualTo(TIMED_OUT);
            assertThat(target.server.bufferBytesInUse()).isZero();
        }
    }

    @Test
    void shouldDropPeerThatReadsNoResponses() throws Exception {
        TargetFixture.withTimeout(3_000, 12_000, TargetIsolationTest::readNoResponses);
    }

    private static void readNoResponses(long idleMs) throws Exception {
        try (var target = new TargetFixture(TargetFixture.limits(600_000, idleMs, 100));
                var dead = target.ready(1)) {
            int bytes = 512 << 10; // times all commands: more than the kernel's socket buffers take
            for (int i = 1; i < ServerLimits.DEFAULT.commandsPerSession(); i++) {
                dead.send(RawInitiator.readCdb(0, bytes / 512), bytes);
            }
            TargetFixture.await("answers pile up", () -> target.server.answerBytesInUse() > 0);
            assertThat(target.server.bufferBytesInUse() + target.server.answerBytesInUse())
                    .isLessThanOrEqualTo(ServerLimits.DEFAULT.maxBufferBytesPerSession());
            try (var other = target.ready(2)) {
                other.write(0, blocks(1, 1));
                assertThat(other.receive().status()).isEqualTo(Status.GOOD);
                other.logout();
            }

            TargetFixture.await("the peer is dropped", () -> target.server.sessionCount() == 0);
            TargetFixture.await("memory comes back", () -> target.server.bufferBytesInUse() == 0
                    && target.server.answerBytesInUse() == 0);
        }
    }

    @Test
    void shouldHandleAbortStormWhileAnotherSessionVerifies() throws Exception {
        try (var target = new TargetFixture(TargetFixture.limits(600_000, 600_000, 100));
                var stormy = target.ready(1);
                var calm = target.ready(2)) {
            var over = new AtomicBoolean();
            CompletableFuture<Integer> verified = CompletableFuture.supplyAsync(() -> {
                try {
                    int rounds = 0;
                    while (!over.get() || rounds == 0) {
                        calm.write(100 + rounds % 50, blocks(1, rounds));
                        assertThat(calm.receive().status()).isEqualTo(Status.GOOD);
                        assertThat(calm.read(100 + rounds % 50, 1)).isEqualTo(blocks(1, rounds));
                        rounds++;
                    }
                    return rounds;
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            target.device.shut(1, request -> request.lba() == 0);
            int write = stormy.write(0, blocks(1, 1));
            target.device.awaitArrivals();
            int complete = 0;
            int rejected = 0;
            for (int sent = 0; sent < STORM; sent += 100) {
                for (int i = 0; i < 100; i++) {
                    stormy.manage(TaskManagementFunction.ABORT_TASK, write);
                }
                for (int ping = stormy.ping();;) {
                    RawInitiator.Received answer = stormy.receive();
                    if (answer.opcode() == Reject.OPCODE) {
                        rejected++;
                    } else if (answer.opcode() == TaskManagementResponse.OPCODE) {
                        complete++;
                    } else if (answer.bhs().itt() == ping) {
                        break;
                    }
                }
            }
            target.device.open();
            while (complete + rejected < STORM) {
                if (stormy.receive().opcode() == Reject.OPCODE) {
                    rejected++;
                } else {
                    complete++;
                }
            }
            over.set(true);

            assertThat(verified.join()).isPositive();
            stormy.assertSilent();
        }
    }

    /** Fills a unit with writes that hang until it takes no more. */
    private static int fill(TargetFixture target, RawInitiator initiator) throws IOException {
        target.device.shut(Integer.MAX_VALUE);
        for (int taken = 0;; taken++) {
            initiator.write(0, blocks(1, taken));
            int ping = initiator.ping();
            RawInitiator.Received answer = initiator.receive();
            if (answer.bhs().itt() != ping) {
                assertThat(answer.status()).isEqualTo(Status.TASK_SET_FULL);
                assertThat(initiator.receive().bhs().itt()).isEqualTo(ping);
                return taken;
            }
        }
    }

    private static RawInitiator ready(TargetFixture target, int qualifier, String... keys)
            throws IOException {
        RawInitiator initiator = target.ready(qualifier, keys);
        for (int lun = 1; lun <= target.more.size(); lun++) {
            do {
                initiator.send(Lun.of(lun), TaskAttribute.SIMPLE, 0, new byte[6], 0);
            } while (initiator.receive().status() != Status.GOOD);
        }
        return initiator;
    }
}
