package lunar.initiator.scsi;

import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.DoubleConsumer;
import lunar.block.AbortedException;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.initiator.internal.retry.Backoff;
import lunar.initiator.internal.retry.RetriedCall;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Cdb;
import lunar.scsi.ParameterData;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.SenseSpecific;
import lunar.scsi.block.FormatUnit;
import lunar.scsi.block.Sanitize;
import lunar.scsi.block.SanitizeOverwrite;
import lunar.scsi.primary.RequestSense;
import lunar.scsi.primary.TestUnitReady;

/**
 * SANITIZE and FORMAT UNIT (SBC-4 sections 5.30 and 5.5). Each call starts the operation with IMMED, then polls its
 * progress by REQUEST SENSE until it has ended, after minutes or hours; it cannot be shortened. Progress is reported
 * from 0 to 1, on the calling thread; it stays at 0 until the end for a unit that does not report any.
 *
 * <p>An interrupt of the waiting thread, or a lost session, ends the call with {@link AbortedException} or
 * {@link lunar.block.DeviceGoneException}; the operation continues, and {@link #await} resumes the wait.
 */
public final class Erasures {
    private static final int SENSE_BYTES = 252;
    private static final long FIRST_PAUSE_MS = 10;
    private static final long MAX_PAUSE_MS = 1_000;
    private static final double PARTS = 65_536;
    private static final int HEADER_BYTES = 4;
    private static final byte IMMED = 0x02;
    private static final AdditionalSense FORMAT_IN_PROGRESS = new AdditionalSense(0x04, 0x04);

    private final Calls calls;

    Erasures(Calls calls) { this.calls = calls; }

    /**
     * SANITIZE with OVERWRITE.
     *
     * @param pattern pattern and number of passes
     * @param exitAllowed AUSE: whether {@link #exitFailureMode} helps after a failure; otherwise only another sanitize
     *        that succeeds does
     * @throws MediumException if it has failed; data may be left
     */
    public void overwrite(SanitizeOverwrite pattern, boolean exitAllowed, DoubleConsumer progress)
            throws StorageException {
        var cdb = new Sanitize(Sanitize.OVERWRITE, true, false, exitAllowed,
                pattern.bytes().length);
        calls.send(cdb, pattern);
        await(cdb, progress);
    }

    /** SANITIZE with BLOCK ERASE: the data that blocks return afterwards depend on the unit. */
    public void blockErase(boolean exitAllowed, DoubleConsumer progress) throws StorageException {
        sanitize(Sanitize.BLOCK_ERASE, exitAllowed, progress);
    }

    /**
     * SANITIZE with CRYPTOGRAPHIC ERASE: the unit forgets its key.
     *
     * @throws lunar.block.InvalidRequestException if the unit does not encrypt
     */
    public void cryptographicErase(boolean exitAllowed, DoubleConsumer progress)
            throws StorageException {
        sanitize(Sanitize.CRYPTOGRAPHIC_ERASE, exitAllowed, progress);
    }

    /** SANITIZE with EXIT FAILURE MODE: makes a unit usable after a failed sanitize. */
    public void exitFailureMode() throws StorageException {
        calls.send(new Sanitize(Sanitize.EXIT_FAILURE_MODE, false, false, false, 0));
    }

    /** FORMAT UNIT, without protection information and defect lists. The data blocks return then depend on the unit. */
    public void format(DoubleConsumer progress) throws StorageException {
        var cdb = new FormatUnit(0, false, true, false, 0, 0);
        ParameterData header = () -> {
            byte[] bytes = new byte[HEADER_BYTES];
            bytes[1] = IMMED;
            return bytes;
        };
        calls.send(cdb, header);
        await(cdb, progress);
    }

    /** Returns the progress of a running operation, from 0 to 1; empty if none is running. */
    public OptionalDouble progress() throws StorageException {
        return running(sense()).map(Erasures::done).map(OptionalDouble::of)
                .orElse(OptionalDouble.empty());
    }

    /** Waits for the end of a running operation, if any, whichever host has started it; throws where it has failed. */
    public void await(DoubleConsumer progress) throws StorageException {
        await(new TestUnitReady(), progress);
    }

    private void sanitize(int serviceAction, boolean exitAllowed, DoubleConsumer progress)
            throws StorageException {
        var cdb = new Sanitize(serviceAction, true, false, exitAllowed, 0);
        calls.send(cdb);
        await(cdb, progress);
    }

    private void await(Cdb cdb, DoubleConsumer progress) throws StorageException {
        var backoff = new Backoff(FIRST_PAUSE_MS, MAX_PAUSE_MS);
        double last = 0;
        progress.accept(last);
        while (true) {
            Sense sense = sense();
            Optional<Sense> running = running(sense);
            if (running.isEmpty()) {
                break;
            }
            double done = done(running.get());
            if (done > last) { // progress never decreases
                last = done;
                progress.accept(done);
            }
            RetriedCall.pause(backoff.nextMs(), calls.describe(cdb));
        }
        calls.send(new TestUnitReady()); // throws where it has failed
        progress.accept(1);
    }

    private Sense sense() throws StorageException {
        return calls.ask(new RequestSense(false, SENSE_BYTES), SENSE_BYTES, Sense::decode);
    }

    private static Optional<Sense> running(Sense sense) {
        boolean is = sense.key() == SenseKey.NOT_READY
                && (sense.additional().equals(AdditionalSense.SANITIZE_IN_PROGRESS)
                        || sense.additional().equals(FORMAT_IN_PROGRESS));
        return is ? Optional.of(sense) : Optional.empty();
    }

    private static double done(Sense sense) {
        return sense.specific().filter(SenseSpecific.Progress.class::isInstance)
                .map(it -> ((SenseSpecific.Progress) it).of65536() / PARTS).orElse(0.0);
    }
}
