package lunar.target;

import static lunar.target.CopyFixture.assertGood;
import static lunar.target.CopyFixture.assertSense;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import lunar.block.Devices;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.scsi.CdbForm;
import lunar.scsi.Lun;
import lunar.scsi.Status;
import lunar.scsi.copy.BlockCopySegment;
import lunar.scsi.copy.BlockRange;
import lunar.scsi.copy.CopyOperationInformation;
import lunar.scsi.copy.CopyOperationInformation.State;
import lunar.scsi.copy.CopyOperationInformation.Tail;
import lunar.scsi.copy.CopyParameterList;
import lunar.scsi.copy.ExtendedCopy;
import lunar.scsi.copy.ReceiveCopyResults;
import lunar.scsi.copy.RodToken;
import lunar.scsi.copy.WriteUsingToken;
import lunar.scsi.copy.WriteUsingTokenList;
import lunar.scsi.reservation.PersistentReserveOut;
import lunar.scsi.reservation.ReservationType;
import lunar.scsi.reservation.Reserve;
import lunar.scsi.reservation.ReserveOutParameters;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that fences of a logical unit against commands also apply to copies that another unit has received. */
@Timeout(600)
class CopyFencingTest {
    private static final long SEED = Long.getLong("lunar.seed", 20261121);
    private static final Lun DESTINATION = Lun.of(1);
    private static final int PIECE = 1 << 20;

    /** A copy of 4 MiB, which LUN 0 receives, to LUN 1, which holds each of its four pieces. */
    private static final class Running implements AutoCloseable {
        final CopyFixture copies;
        final HeldDevice destination;
        final RawInitiator other;

        final boolean inBackground;

        Running(boolean inBackground) throws Exception {
            this.inBackground = inBackground;
            copies = new CopyFixture(Devices.open("ram:4MiB"), new HeldDevice("ram:4MiB"));
            destination = (HeldDevice) copies.devices.get(1);
            other = RawInitiator.ready(copies.server, 2);
            copies.fill(0, SEED);
            attention(other, DESTINATION);
            attention(copies.initiator, DESTINATION);
            register(copies.initiator, 1);
            register(other, 2);
            byte[] list = new CopyParameterList(true, 77, CopyParameterList.HOLD, 0, false, false,
                    inBackground, List.of(copies.cscd(0), copies.cscd(1)),
                    List.of(segment(8192))).bytes();
            copies.send(new ExtendedCopy(true, list.length), list);
            if (inBackground) {
                assertGood(copies.initiator.receive());
            }
            destination.awaitArrival();
        }

        /** The copy has failed, and written nothing but its first piece. */
        void assertStopped() throws Exception {
            destination.pass(1000);
            if (inBackground) {
                copies.initiator.takeAttentions();
                State state;
                do {
                    state = CopyOperationInformation.decode(copies.in(new ReceiveCopyResults(
                            ReceiveCopyResults.COPY_STATUS_LID4, 77, 100)), Tail.NOTHING).state();
                } while (state == State.IN_BACKGROUND);
                assertThat(state).isEqualTo(State.TERMINATED);
            } else {
                assertSense(copies.initiator.receive(), 0x0a_00_00);
            }
            assertNoMoreWritten();
        }

        void assertNoMoreWritten() throws Exception {
            assertThat(Arrays.mismatch(copies.content(1, PIECE, 3 * PIECE), new byte[3 * PIECE]))
                    .as("first byte behind the first piece").isEqualTo(-1);
        }

        @Override
        public void close() throws Exception {
            destination.pass(1000);
            other.close();
            copies.close();
        }
    }

    private static BlockCopySegment segment(int blocks) {
        return new BlockCopySegment(false, false, 0, 1, blocks, 0, 0);
    }

    private static void attention(RawInitiator sender, Lun lun) throws Exception {
        assertThat(sender.command(lun, new byte[6], 0).status()).isEqualTo(Status.CHECK_CONDITION);
    }

    private static void register(RawInitiator sender, long key) throws Exception {
        assertGood(reserveOut(sender, PersistentReserveOut.REGISTER, 0,
                ReserveOutParameters.of(0, key)));
    }

    private static RawInitiator.Received reserveOut(RawInitiator sender, int action, int type,
            ReserveOutParameters list) throws Exception {
        sender.send(DESTINATION, new PersistentReserveOut(action, 0, type, 24).bytes(),
                list.bytes(),
                0);
        return sender.receive();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldEndCopiesOfPreemptedNexuses(boolean inBackground) throws Exception {
        CopyFixture.inTime(() -> preempt(inBackground));
    }

    private static void preempt(boolean inBackground) throws Exception {
        try (var copy = new Running(inBackground)) {
            copy.other.send(DESTINATION, new PersistentReserveOut(
                    PersistentReserveOut.PREEMPT_AND_ABORT, 0,
                    ReservationType.WRITE_EXCLUSIVE.code(), 24).bytes(),
                    ReserveOutParameters.of(2, 1).bytes(), 0);
            while (copy.copies.initiator.command(DESTINATION, new byte[6], 0).sense() == 0) {
                // until it hears that it was preempted
            }
            copy.other.assertSilent(); // a piece of the copy may still land
            copy.destination.pass(1);
            assertGood(copy.other.receive());

            copy.assertStopped();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldEndCopiesToAUnitThatIsReset(boolean inBackground) throws Exception {
        CopyFixture.inTime(() -> reset(inBackground));
    }

    private static void reset(boolean inBackground) throws Exception {
        try (var copy = new Running(inBackground)) {
            int reset = copy.other.manage(TaskManagementFunction.LOGICAL_UNIT_RESET, DESTINATION,
                    -1, copy.other.cmdSn(), 0);
            copy.other.assertSilent();
            copy.destination.pass(1);
            assertThat(copy.other.managed(reset)).isZero();

            copy.assertStopped();
        }
    }

    @Test
    void shouldRespectAReservationMadeDuringASegment() throws Exception {
        try (var copy = new Running(false)) {
            assertGood(reserveOut(copy.other, PersistentReserveOut.RESERVE,
                    ReservationType.WRITE_EXCLUSIVE.code(), ReserveOutParameters.of(2, 0)));
            copy.destination.pass(1000);
            assertThat(copy.copies.initiator.receive().status())
                    .isEqualTo(Status.RESERVATION_CONFLICT);
            copy.assertNoMoreWritten();
        }
    }

    @Test
    void shouldRespectAReservationMadeWhileATokenIsWritten() throws Exception {
        try (var copies = new CopyFixture(new HeldDevice("ram:4MiB"));
                var other = RawInitiator.ready(copies.server, 2)) {
            var held = (HeldDevice) copies.devices.getFirst();
            byte[] list = new WriteUsingTokenList(false, false, 0, RodToken.zeroes(),
                    List.of(new BlockRange(0, 8), new BlockRange(100, 8))).bytes();
            copies.send(new WriteUsingToken(2, list.length, 0), list);
            held.awaitArrival();
            other.send(Lun.ZERO, new Reserve(CdbForm.CDB6).bytes(), new byte[0], 0);
            assertGood(other.receive());
            held.pass(1000);
            assertThat(copies.initiator.receive().status()).isEqualTo(Status.RESERVATION_CONFLICT);
        }
    }

    @Test
    void shouldCopyNothingFromASourceThatIsBeingSanitized() throws Exception {
        try (var copies = new CopyFixture(new HeldDevice("ram:4MiB"), Devices.open("ram:4MiB"));
                var other = RawInitiator.ready(copies.server, 2)) {
            var source = (HeldDevice) copies.devices.getFirst();
            source.pass(4);
            copies.fill(0, SEED);
            for (int i = 0; i < 4; i++) {
                source.awaitArrival();
            }
            byte[] list = CopyFixture.list(3, CopyParameterList.HOLD,
                    List.of(copies.cscd(0), copies.cscd(1)), segment(8192)).bytes();
            copies.send(new ExtendedCopy(false, list.length), list);
            source.awaitArrival(); // it reads its first piece
            other.send(Lun.ZERO, RawInitiator.bytes("48820000000000000000"), new byte[0], 0);
            assertGood(other.receive()); // SANITIZE, block erase, immediate
            source.pass(1);
            assertSense(copies.initiator.receive(), 0x0a_04_1b);
            source.pass(1000);
            assertThat(Arrays.mismatch(copies.content(1, 0, 4 * PIECE), new byte[4 * PIECE]))
                    .isEqualTo(-1);
        }
    }

    @Test
    void shouldEndCopiesToAUnitThatTheirInitiatorNoLongerSees() throws Exception {
        try (var copy = new Running(false)) {
            var done = copy.copies.server.update(TargetSpec.of(RawInitiator.TARGET).withLun(0,
                    copy.copies.devices.getFirst()));
            assertThat(done).as("a piece may still land").isNotDone();
            copy.assertStopped();
            assertThat(done).succeedsWithin(Duration.ofSeconds(60));
        }
    }
}
