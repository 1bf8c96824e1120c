package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.LostWritesException;
import lunar.block.MediumException;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Cdb;
import lunar.scsi.CdbForm;
import lunar.scsi.Lun;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.block.SynchronizeCache;
import lunar.scsi.block.WriteBlocks;
import lunar.scsi.mode.ModeSelect;
import lunar.scsi.vpd.Inquiry;
import lunar.scsi.vpd.SupportedVpdPages;
import lunar.scsi.vpd.WriteVerifier;
import lunar.testkit.ScriptedPeer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests a target that itself fails a command because acknowledged writes may be lost. */
@Timeout(120)
class LostWritesReportTest {
    private static final Sense WRITE_ERROR = Sense.of(SenseKey.MEDIUM_ERROR,
            AdditionalSense.WRITE_ERROR);

    /** How long flushes wait for the verifier. */
    private static final long VERIFIER_NS = TimeUnit.SECONDS.toNanos(5);

    /** Sense data for the next flushes, the next writes, and the next changes of mode pages. */
    private final ConcurrentLinkedQueue<Sense> flushes = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Sense> writes = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Sense> modes = new ConcurrentLinkedQueue<>();
    private final AtomicInteger verifiers = new AtomicInteger();
    private volatile UUID verifier = new UUID(1, 2);
    /** Holds back the answer with the verifier. */
    private volatile CountDownLatch held = new CountDownLatch(0);
    /** Whether the verifier is not answered at all. */
    private volatile boolean isSilent;

    /** Has a write verifier, as Lunar's targets do. */
    private boolean lunar(ScriptedPeer peer, ScsiCommand command, Cdb cdb) throws Exception {
        if (cdb instanceof Inquiry inquiry && inquiry.evpd()) {
            if (inquiry.page() == WriteVerifier.CODE) {
                verifiers.incrementAndGet();
                held.await();
                if (isSilent) {
                    return true;
                }
                ScriptedDisk.data(peer, command, new WriteVerifier(verifier),
                        inquiry.allocationLength());
                return true;
            }
            if (inquiry.page() == 0) {
                ScriptedDisk.data(peer, command,
                        new SupportedVpdPages(List.of(0, WriteVerifier.CODE)),
                        inquiry.allocationLength());
                return true;
            }
        }
        return foreign(peer, command, cdb);
    }

    private boolean foreign(ScriptedPeer peer, ScsiCommand command, Cdb cdb) throws Exception {
        Sense failure = switch (cdb) {
            case SynchronizeCache _ -> flushes.poll();
            case WriteBlocks _ -> writes.poll();
            case ModeSelect _ -> modes.poll();
            default -> null;
        };
        if (failure != null) {
            ScriptedDisk.sense(peer, command, failure);
        }
        return failure != null;
    }

    @Test
    void shouldReportAMediumErrorOfAFlushAsALoss() throws Exception {
        try (var loopback = Loopback.disk(this::foreign); LunDevice device = loopback.open()) {
            device.write(0, Loopback.blocks(1));
            flushes.add(WRITE_ERROR);
            assertThatThrownBy(device::flush).isInstanceOf(LostWritesException.class)
                    .hasMessageContaining("0Ch/00h");
            assertThat(device.writeLosses()).isEqualTo(1);
            device.flush();

            flushes.add(WRITE_ERROR);
            assertThatThrownBy(device::flush).as("without own writes, such as for other hosts")
                    .isInstanceOf(LostWritesException.class);
            assertThat(device.writeLosses()).isEqualTo(2);
            device.flush();
        }
    }

    @Test
    void shouldReportALossTogetherWithOneThatASessionHasFound() throws Exception {
        try (var loopback = Loopback.disk(this::foreign); LunDevice device = loopback.open()) {
            device.write(0, Loopback.blocks(1));
            device.session().engine().resets().heard(0, AdditionalSense.DEVICE_INTERNAL_RESET);
            flushes.add(WRITE_ERROR);
            assertThatThrownBy(device::flush).isInstanceOf(LostWritesException.class);
            device.flush();
        }
    }

    @Test
    void shouldDistinguishLostWritesFromABadBlockWhereTheTargetDoes() throws Exception {
        try (var loopback = Loopback.disk(this::lunar); LunDevice device = loopback.open()) {
            writes.add(WRITE_ERROR);
            assertThatThrownBy(() -> device.write(0, Loopback.blocks(1)))
                    .isInstanceOf(MediumException.class);
            assertThat(device.writeLosses()).isZero();
            writes.add(Sense.lostWrites());
            assertThatThrownBy(() -> device.write(0, Loopback.blocks(1)))
                    .isInstanceOf(LostWritesException.class);
            assertThat(device.writeLosses()).isEqualTo(1);
            device.flush();
        }
        try (var loopback = Loopback.disk(this::foreign); LunDevice device = loopback.open()) {
            writes.add(Sense.lostWrites()); // of a target that may mean another part
            assertThatThrownBy(() -> device.write(0, Loopback.blocks(1)))
                    .isInstanceOf(MediumException.class);
        }
    }

    @Test
    void shouldReadTheWriteVerifierAgainAfterAReportedLoss() throws Exception {
        try (var loopback = Loopback.disk(this::lunar); LunDevice device = loopback.open()) {
            assertThat(verifiers).hasValue(1);
            verifier = new UUID(1, 3);
            flushes.add(Sense.lostWrites());
            assertThatThrownBy(device::flush).isInstanceOf(LostWritesException.class);
            device.flush(); // answered after the query
            assertThat(verifiers).hasValue(2);
            assertThat(device.writeVerifier()).hasValue(verifier);
        }
    }

    /** As of a target that counts no losses, or of a device that fails a flush for another reason. */
    @Test
    void shouldReportAMediumErrorOfAFlushAsALossEvenIfTheWriteVerifierIsKnown() throws Exception {
        try (var loopback = Loopback.disk(this::lunar); LunDevice device = loopback.open()) {
            flushes.add(Sense.lostWrites());
            assertThatThrownBy(device::flush).isInstanceOf(LostWritesException.class);
            flushes.add(WRITE_ERROR);
            assertThatThrownBy(device::flush).isInstanceOf(LostWritesException.class);
            assertThat(device.writeLosses()).isEqualTo(2);
            device.flush();
        }
    }

    /** The target does not respond on this path; flushes of all paths wait for the verifier. */
    @Test
    void shouldReportALossIfTheWriteVerifierCannotBeReadInTime() throws Exception {
        try (var loopback = Loopback.disk(this::lunar); LunDevice device = loopback.open()) {
            isSilent = true;
            flushes.add(Sense.lostWrites());
            assertThatThrownBy(device::flush).isInstanceOf(LostWritesException.class);
            device.flush();
            assertThat(device.writeLosses()).isEqualTo(1);
        }
    }

    /** Modes are selected by the session, as are the commands of a {@code ScsiUnit}; the device waits for reports. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldFailTheNextFlushAfterAReportToACommandOfTheSession(boolean isStarted)
            throws Exception {
        try (var loopback = Loopback.disk(this::lunar); LunDevice device = loopback.open()) {
            byte[] select = new ModeSelect(CdbForm.CDB6, true, false, false, 0).bytes();
            modes.add(Sense.lostWrites());
            ScsiResult result = isStarted
                    ? device.session()
                            .start(Exchange.Scsi.reading(Lun.ZERO, Bytes.of(select),
                                    MemorySegment.NULL))
                            .await()
                    : device.session().execute(Lun.ZERO, select, MemorySegment.NULL,
                            MemorySegment.NULL);
            assertThat(result.isSuccess()).isFalse();
            assertThatThrownBy(device::flush).isInstanceOf(LostWritesException.class);
            device.flush();
            assertThat(device.writeLosses()).isEqualTo(1);
        }
    }

    /** The caller of the command knows; other users of the device do not. */
    @Test
    void shouldFailTheNextFlushAfterAReportToACommandThatWasPassedThrough() throws Exception {
        try (var loopback = Loopback.disk(this::lunar); LunDevice device = loopback.open()) {
            device.write(0, Loopback.blocks(1));
            flushes.add(WRITE_ERROR);
            assertThat(device.execute(SynchronizeCache.ALL.bytes(), MemorySegment.NULL,
                    MemorySegment.NULL).isSuccess()).isFalse();
            assertThatThrownBy(device::flush).isInstanceOf(LostWritesException.class);
            device.flush();
        }
    }

    /** A target tells each of its initiator ports, and this initiator has two. */
    @Test
    void shouldRecordALossOnceThatTheTargetReportsToSeveralSessions() throws Exception {
        var tracker = new UnflushedWrites();
        try (var loopback = Loopback.disk(this::lunar);
                Session first = loopback.login();
                Session second = loopback.login();
                LunDevice one = first.open(Lun.ZERO, tracker);
                LunDevice two = second.open(Lun.ZERO, tracker)) {
            one.reopened(() -> false);
            two.reopened(() -> false);
            one.write(0, Loopback.blocks(1));
            verifier = new UUID(1, 3);
            flushes.add(Sense.lostWrites());
            assertThatThrownBy(one::flush).isInstanceOf(LostWritesException.class);
            flushes.add(Sense.lostWrites());
            two.flush();
            writes.add(Sense.lostWrites());
            two.write(0, Loopback.blocks(1));
            assertThat(tracker.writeLosses()).isEqualTo(1);

            verifier = new UUID(1, 4);
            flushes.add(Sense.lostWrites());
            assertThatThrownBy(two::flush).isInstanceOf(LostWritesException.class);
            assertThat(tracker.writeLosses()).isEqualTo(2);
            one.flush();
        }
    }

    /** As a file until an operator has accepted its loss: there is one loss, but nothing is stable. */
    @Test
    void shouldFailEachFlushAndCountOneLossWhileTheTargetRefuses() throws Exception {
        try (var loopback = Loopback.disk(this::lunar); LunDevice device = loopback.open()) {
            for (int i = 0; i < 5; i++) { // the first flush is sent once, the others twice
                flushes.add(Sense.lostWrites());
            }
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(device::flush).isInstanceOf(LostWritesException.class);
            }
            assertThat(flushes).isEmpty();
            assertThat(device.writeLosses()).isEqualTo(1);
            device.flush();
        }
    }

    /** The only user of a session receives its responses itself, but not that to the query. */
    @Test
    void shouldReadTheWriteVerifierForACallerThatReceivesItsResponsesItself() throws Exception {
        try (var loopback = Loopback.disk(this::lunar); LunDevice device = loopback.open()) {
            for (int i = 0; i < 40; i++) {
                device.read(0, Loopback.blocks(1));
            }
            flushes.add(Sense.lostWrites());
            assertThatThrownBy(device::flush).isInstanceOf(LostWritesException.class);
            for (int i = 0; i < 40; i++) {
                device.read(0, Loopback.blocks(1));
            }
            flushes.add(Sense.lostWrites());
            device.flush();
            assertThat(flushes).isEmpty();
        }
    }

    /** It may be one that was to make the same lost writes stable. */
    @Test
    void shouldNotEndAFlushOfAnotherSessionWhileAReportIsChecked() throws Exception {
        var tracker = new UnflushedWrites();
        try (var loopback = Loopback.disk(this::lunar);
                Session first = loopback.login();
                Session second = loopback.login();
                LunDevice one = first.open(Lun.ZERO, tracker);
                LunDevice two = second.open(Lun.ZERO, tracker)) {
            one.reopened(() -> false);
            two.reopened(() -> false);
            one.write(0, Loopback.blocks(1));
            verifier = new UUID(1, 3);
            held = new CountDownLatch(1);
            flushes.add(Sense.lostWrites());
            long begunNs = System.nanoTime();
            CompletableFuture<Void> told = one.submitFlush();
            while (verifiers.get() < 3) { // two were asked for when the unit was opened
                Thread.onSpinWait();
            }
            CompletableFuture<Void> untold = two.submitFlush();
            two.read(0, Loopback.blocks(1)); // answered after the flush
            boolean wait = !told.isDone() && !untold.isDone();
            assertThat(wait || System.nanoTime() - begunNs >= VERIFIER_NS).isTrue();
            held.countDown();
            for (CompletableFuture<Void> flush : List.of(told, untold)) {
                assertThatThrownBy(flush::get).hasCauseInstanceOf(LostWritesException.class);
            }
            two.flush();
            assertThat(tracker.writeLosses()).isEqualTo(1);
        }
    }
}
