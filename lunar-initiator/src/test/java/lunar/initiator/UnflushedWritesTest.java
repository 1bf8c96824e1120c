package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.block.LostWritesException;
import lunar.block.StorageException;
import lunar.initiator.internal.lun.KnownVerifier;
import lunar.initiator.internal.session.ResetWatch;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Lun;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;

class UnflushedWritesTest {
    private final UnflushedWrites writes = new UnflushedWrites();

    /** A flush that was submitted. */
    private final class Flush {
        final long reported = writes.reported();
        final long number = writes.ledger().beginFlush();
        long loss;

        boolean vouches() {
            loss = writes.ledger().endFlush(number, reported);
            return loss == 0;
        }

        void told() { writes.ledger().report(loss); }
    }

    private void write() { writes.ledger().acknowledged(writes.ledger().losses()); }

    private boolean flush() {
        var flush = new Flush();
        boolean vouches = flush.vouches();
        flush.told();
        return vouches;
    }

    @Test
    void shouldFailOneFlushAfterALoss() {
        write();
        writes.lost("power");
        assertThat(flush()).isFalse();
        assertThat(flush()).isTrue();
        assertThat(writes.isDirty()).isFalse();
    }

    @Test
    void shouldIgnoreALossWhenAllIsFlushed() {
        write();
        assertThat(flush()).isTrue();
        writes.lost("power");
        assertThat(flush()).isTrue();
        write();
        assertThat(flush()).as("a write after the loss").isTrue();
    }

    @Test
    void shouldKeepWritesUnflushedThatEndWhileAFlushIsInFlight() {
        write();
        var flush = new Flush();
        write();
        assertThat(flush.vouches()).isTrue();
        assertThat(writes.isDirty()).isTrue();
        writes.lost("power");
        assertThat(flush()).isFalse();
    }

    @Test
    void shouldFailAllFlushesInFlightAndThoseSubmittedBeforeTheFirstReport() {
        write();
        var first = new Flush();
        var second = new Flush();
        writes.lost("power");
        assertThat(first.vouches()).isFalse();
        var third = new Flush();
        first.told();
        assertThat(second.vouches()).isFalse();
        assertThat(third.vouches()).isFalse();
        second.told();
        third.told();
        assertThat(flush()).isTrue();
    }

    @Test
    void shouldTreatAWriteInProgressDuringALossAsLost() {
        long before = writes.ledger().losses();
        writes.lost("power");
        writes.ledger().acknowledged(before);
        assertThat(flush()).isFalse();
        assertThat(flush()).isTrue();
    }

    /** Its answer may have been held up on another path while the loss was reported. */
    @Test
    void shouldReportALossAgainForAWriteThatIsAcknowledgedAfterTheReport() {
        long before = writes.ledger().losses();
        write();
        writes.lost("power");
        assertThat(flush()).isFalse();
        writes.ledger().acknowledged(before);
        assertThat(flush()).isFalse();
        assertThat(flush()).isTrue();
        writes.ledger().acknowledged(writes.ledger().losses());
        assertThat(flush()).as("writes of the time after").isTrue();
    }

    @Test
    void shouldFailAFlushThatIsSentAgainAfterAnotherOneHasReportedTheLoss() {
        write();
        long before = writes.reported();
        writes.lost("power");
        assertThat(flush()).isFalse();
        assertThat(flush()).isTrue();
        var resent = new BlockRequest().asFlush();
        assertThatThrownBy(() -> writes.requireNoLoss(resent, before))
                .isInstanceOf(LostWritesException.class);
        assertThatCode(() -> writes.requireNoLoss(resent, writes.reported()))
                .doesNotThrowAnyException();
    }

    @Test
    void shouldNotTreatALaterResetAsTheRequestedOne() {
        var resets = new ResetWatch("target");
        resets.opened(Lun.ZERO, writes);
        resets.asked(Lun.ZERO);
        resets.heard(0, AdditionalSense.BUS_DEVICE_RESET_OCCURRED);
        write();
        resets.heard(0, AdditionalSense.RESET_OCCURRED);
        assertThat(flush()).isFalse();
        resets.asked(Lun.ZERO);
        resets.refused(Lun.ZERO);
        write();
        resets.heard(0, AdditionalSense.RESET_OCCURRED);
        assertThat(flush()).isFalse();
    }

    /** Such as a cache that could not be written back. */
    @Test
    void shouldTreatADeferredErrorAsALoss() {
        var resets = new ResetWatch("target");
        resets.opened(Lun.ZERO, writes);
        write();
        byte[] sense = Sense.of(SenseKey.MEDIUM_ERROR, AdditionalSense.WRITE_ERROR).encodeFixed();
        sense[0] = 0x71;
        resets.heard(0, Bytes.of(sense));
        assertThat(flush()).isFalse();
    }

    @Test
    void shouldReportASecondLossAgain() {
        write();
        writes.lost("power");
        assertThat(flush()).isFalse();
        write();
        writes.lost("power");
        assertThat(flush()).isFalse();
    }

    @Test
    void shouldNeverFailWhereTheCacheSurvives() {
        var stable = new UnflushedWrites(true);
        stable.ledger().acknowledged(stable.ledger().losses());
        stable.lost("power");
        assertThat(stable.ledger().endFlush(stable.ledger().beginFlush(), stable.reported()))
                .isZero();
    }

    @Test
    void shouldDistinguishForeignResetsFromOwnOnesAndLostNexuses() {
        var resets = new ResetWatch("target");
        resets.opened(Lun.ZERO, writes);
        write();
        resets.heard(0, AdditionalSense.NEXUS_LOSS_OCCURRED);
        resets.heard(0, AdditionalSense.BUS_DEVICE_RESET_OCCURRED);
        resets.heard(1, AdditionalSense.POWER_ON_OCCURRED);
        resets.asked(Lun.ZERO);
        resets.heard(0, AdditionalSense.RESET_OCCURRED);
        assertThat(flush()).isTrue();
        write();
        resets.heard(0, AdditionalSense.RESET_OCCURRED);
        assertThat(flush()).isFalse();
        assertThat(resets.told(Lun.ZERO)).isEqualTo(ReportedReset.RESET);
    }

    /** A write that was in progress is reported, whichever of its acknowledgement and the loss comes first. */
    @Test
    void shouldDetectWritesAcknowledgedDuringALoss() throws InterruptedException {
        var random = new Random(Seed.next());
        for (int round = 0; round < 2_000; round++) {
            var unit = new UnflushedWrites();
            long before = unit.ledger().losses();
            var start = new CountDownLatch(1);
            Thread writer = Thread.ofPlatform().start(() -> {
                awaitQuietly(start);
                unit.ledger().acknowledged(before);
            });
            start.countDown();
            spin(random.nextInt(200));
            unit.lost("power");
            writer.join();
            assertThat(unit.ledger().endFlush(unit.ledger().beginFlush(), unit.reported()))
                    .as("round " + round)
                    .isPositive();
        }
    }

    /** Acknowledgements of other threads do not bring the number of the latest one down. */
    @Test
    void shouldKeepTheLatestOfWritesThatAreAcknowledgedTogether() throws InterruptedException {
        var random = new Random(Seed.next());
        for (int round = 0; round < 2_000; round++) {
            var unit = new UnflushedWrites();
            var start = new CountDownLatch(1);
            Thread other = Thread.ofPlatform().start(() -> {
                awaitQuietly(start);
                unit.ledger().acknowledged(unit.ledger().losses());
            });
            start.countDown();
            spin(random.nextInt(200));
            long flush = unit.ledger().beginFlush();
            unit.ledger().acknowledged(unit.ledger().losses()); // while the flush is in flight
            other.join();
            assertThat(unit.ledger().endFlush(flush, unit.reported())).isZero();
            assertThat(unit.isDirty()).as("round " + round).isTrue();
        }
    }

    private static void spin(int times) {
        for (int i = 0; i < times; i++) {
            Thread.onSpinWait();
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private static Optional<UUID> verifier(int number) { return Optional.of(new UUID(0, number)); }

    /** A verifier that is asked for now. */
    private UnflushedWrites.VerifierReading reading(int number) {
        return new UnflushedWrites.VerifierReading(writes.verifier().generation(),
                verifier(number));
    }

    /** A new session, which reads another verifier if it has to read it again. */
    private void reopen(UnflushedWrites.VerifierReading first, int again)
            throws StorageException {
        writes.reopened("session", ReportedReset.NEXUS_LOSS, first, () -> verifier(again),
                () -> false);
    }

    private void reopen(int number) throws StorageException { reopen(reading(number), number); }

    /** A flush that the target has failed. */
    private long refuse(UnflushedWrites.VerifierReading now) {
        long loss = writes.verifier().refused(writes.ledger().beginFlush(), "reported",
                now.asked(), now.value());
        if (loss > 0) {
            writes.ledger().report(loss);
        }
        return loss;
    }

    /** The target has told the session that goes on; its changed verifier reports the same loss. */
    @Test
    void shouldNotReportALossAgainAtTheNextLoginThatACommandHasReported() throws Exception {
        reopen(1);
        write();
        assertThat(refuse(reading(2))).isPositive();
        write();
        reopen(2);
        assertThat(flush()).isTrue();
        write();
        reopen(3);
        assertThat(flush()).isFalse();
    }

    @Test
    void shouldNotReportALossAgainThatTheVerifierHasReportedAtALogin() throws Exception {
        reopen(1);
        write();
        reopen(2);
        assertThat(flush()).isFalse();
        assertThat(refuse(reading(2))).isEqualTo(KnownVerifier.RECORDED);
        assertThat(refuse(reading(3))).isPositive();
    }

    /** The path that logs in again has recorded nothing; another one is told. */
    @Test
    void shouldRecordAReportedLossThatALoginHasNotSinceTheCacheSurvives() throws Exception {
        var stable = new UnflushedWrites(true);
        for (int each : new int[]{1, 2}) {
            stable.reopened("session", ReportedReset.NEXUS_LOSS,
                    new UnflushedWrites.VerifierReading(stable.verifier().generation(),
                            verifier(each)),
                    () -> verifier(each), () -> false);
        }
        assertThat(stable.writeLosses()).isZero();
        long asked = stable.verifier().generation();
        assertThat(stable.verifier().refused(0, "reported", asked, verifier(2))).isPositive();
        assertThat(stable.writeLosses()).isEqualTo(1);
    }

    /** It is owed to the port since an earlier process, or lasts; this one knows nothing of it. */
    @Test
    void shouldReportALossThatIsOlderThanTheFirstLogin() throws Exception {
        reopen(1);
        assertThat(refuse(reading(1))).isPositive();
        assertThat(refuse(reading(1))).isEqualTo(KnownVerifier.RECORDED);
    }

    /** Another path was told of the loss meanwhile. */
    @Test
    void shouldReadAVerifierAgainThatBecameOutdatedBeforeTheSessionWasJudged() throws Exception {
        reopen(1);
        write();
        var probed = reading(1);
        assertThat(refuse(reading(2))).isPositive();
        write();
        reopen(probed, 2);
        assertThat(flush()).isTrue();
        write();
        reopen(2);
        assertThat(flush()).isTrue();
    }

    @Test
    void shouldNotAdoptTheLateAnswerOfASessionThatHasEnded() throws Exception {
        reopen(1);
        write();
        var late = reading(2);
        reopen(3);
        assertThat(flush()).isFalse();
        assertThat(refuse(late)).isEqualTo(KnownVerifier.OUTDATED);
        write();
        reopen(3);
        assertThat(flush()).isTrue();
    }

    /** A hostile target, and another path to it that fails all the time. */
    @Test
    void shouldNotReadAVerifierForeverThatBecomesOutdatedEachTime() throws Exception {
        reopen(1);
        var probed = reading(1);
        var last = new AtomicInteger(1);
        assertThat(refuse(reading(last.incrementAndGet()))).isPositive();
        assertThatThrownBy(() -> writes.reopened("session", ReportedReset.NEXUS_LOSS, probed,
                () -> {
                    assertThat(refuse(reading(last.incrementAndGet()))).isPositive();
                    return verifier(1);
                }, () -> false)).isInstanceOf(BusyException.class);
    }

    /** The report of the change may come by another connection than the status of a later write. */
    @Test
    void shouldDoubtWritesOnceTheCacheMayHaveBeenOn() {
        writes.ledger().acknowledgedStable();
        writes.lost("power");
        assertThat(flush()).isTrue();
        writes.ledger().acknowledgedStable();
        writes.ledger().doubt();
        writes.lost("power");
        assertThat(flush()).isFalse();
        writes.ledger().doubt();
        assertThat(writes.isDirty()).as("flushed").isFalse();
    }

    @Test
    void shouldTreatAWriteInProgressDuringAReportedLossAsLost() {
        long before = writes.ledger().losses();
        writes.ledger().report(writes.ledger().refused(writes.ledger().beginFlush(), "reported"));
        assertThat(flush()).isTrue();
        writes.ledger().acknowledged(before);
        assertThat(flush()).isFalse();
        assertThat(flush()).isTrue();
    }
}
