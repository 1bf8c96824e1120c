package lunar.scsi.target.block;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import lunar.block.BlockDevice;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.scsi.AdditionalSense;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.target.ScsiTask;
import lunar.scsi.target.StateStore;
import org.jspecify.annotations.Nullable;

/**
 * Runs the erasures of a unit, one at a time. An erasure is not stopped by aborts, resets or the end of the session;
 * meanwhile, commands that need the medium report its progress. If the unit's state outlives a restart of the server,
 * an interrupted SANITIZE starts over, an interrupted FORMAT UNIT leaves the medium corrupted until it is formatted,
 * and a failure stays (SBC-4 sections 4.10 and 4.11). Thread-safe.
 */
final class Erasures {
    private static final System.Logger LOG = System.getLogger("lunar.target");
    private static final String STATE = "erasure";
    private static final Sense INTERNAL_FAILURE = Sense.of(SenseKey.HARDWARE_ERROR,
            AdditionalSense.INTERNAL_TARGET_FAILURE);

    private final Medium medium;
    private final BlockDevice device;
    private final StateStore store;

    /** Last erasure that has not succeeded. */
    private @Nullable Erasure failed;

    Erasures(Medium medium, BlockDevice device, StateStore store) {
        this.medium = medium;
        this.device = device;
        this.store = store;
    }

    /** Returns the erasure that did not succeed and leaves the unit unusable, if there is one. */
    synchronized Optional<Erasure> failed() {
        return Optional.ofNullable(failed);
    }

    private synchronized void failed(@Nullable Erasure erasure) { failed = erasure; }

    /**
     * Resumes an erasure that a restart of the server has interrupted.
     *
     * @param readOnly whether the unit is read-only now, so that a SANITIZE cannot continue
     * @throws IOException if the saved state cannot be read, or is damaged
     */
    void resume(boolean readOnly) throws IOException {
        byte[] saved = store.load(STATE).orElse(new byte[0]);
        if (saved.length == 0) {
            return;
        }
        Erasure erasure = Erasure.decode(saved, device.blockSize())
                .orElseThrow(() -> new IOException("the saved erasure of " + device
                        + " is damaged; restore the state '" + STATE
                        + "', or remove it and erase the unit again"));
        if (erasure.hasFailed() || erasure.isFormat() || readOnly) {
            failed(erasure);
            medium.end(erasure.failure());
            LOG.log(System.Logger.Level.WARNING, "{0}: an earlier erasure failed: {1}", device,
                    erasure.failure());
            return;
        }
        LOG.log(System.Logger.Level.WARNING, "{0}: restarting an interrupted erasure",
                device);
        var operation = new LongOperation(erasure.inProgress());
        if (medium.begin(operation)) {
            inBackground(() -> medium.end(erase(erasure, operation)));
        }
    }

    /** Begins an erasure, for which the task waits unless it is immediate. On the task's loop. */
    void start(ScsiTask task, Erasure erasure, boolean immediate) {
        var operation = new LongOperation(erasure.inProgress());
        if (!medium.begin(operation)) {
            task.checkCondition(Sense.of(SenseKey.NOT_READY, erasure.inProgress()));
            return;
        }
        var outcome = new CompletableFuture<Consumer<ScsiTask>>();
        inBackground(() -> {
            try {
                store.save(STATE, erasure.bytes()); // before the first block is lost
            } catch (IOException | RuntimeException e) {
                LOG.log(System.Logger.Level.ERROR,
                        device + ": cannot start erasing: its state cannot be saved", e);
                medium.end(medium.failure().orElse(null)); // restores the earlier state
                outcome.complete(last -> last.checkCondition(INTERNAL_FAILURE));
                return;
            }
            if (immediate) {
                outcome.complete(ScsiTask::good);
            }
            medium.awaitUnused();
            Sense failure = erase(erasure, operation);
            medium.end(failure);
            outcome.complete(failure == null
                    ? ScsiTask::good
                    : last -> last.checkCondition(failure));
        });
        task.whenAborted(() -> outcome.complete(ScsiTask::good)); // the erasure continues without its task
        task.work(outcome::join);
    }

    private static void inBackground(Runnable what) {
        Thread.ofPlatform().daemon().name("lunar-erase").start(what);
    }

    /** Erases the medium, which the operation holds. Returns the sense data of a failure, or null. */
    private @Nullable Sense erase(Erasure erasure, LongOperation operation) {
        Erasure ended = erasure.failing();
        try {
            new Eraser(device, operation).run(erasure);
            store.save(STATE, new byte[0]);
            failed(null);
            return null;
        } catch (DeviceGoneException e) { // possibly closed: resume when it is opened again
            LOG.log(System.Logger.Level.ERROR, "{0}: erasure interrupted: {1}", device,
                    e.getMessage());
            failed(ended);
            return ended.failure();
        } catch (StorageException e) {
            LOG.log(System.Logger.Level.ERROR, "{0}: erasure failed: {1}", device,
                    e.getMessage());
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            LOG.log(System.Logger.Level.ERROR, device + ": erasure failed", e);
        }
        failed(ended);
        try {
            store.save(STATE, ended.bytes());
        } catch (IOException | RuntimeException e) {
            LOG.log(System.Logger.Level.ERROR, device + ": cannot save that its erasure failed", e);
        }
        return ended.failure();
    }

    /** Leaves the state of a failed SANITIZE, if that SANITIZE permitted it (AUSE). */
    void exitFailure(ScsiTask task) throws InvalidCdbException {
        Erasure left = failed().filter(erasure -> !erasure.isFormat() && erasure.unrestricted())
                .orElseThrow(() -> InvalidCdbException.field(1, 4));
        if (!medium.begin(new LongOperation(left.inProgress()))) { // no other erasure starts meanwhile
            task.checkCondition(Sense.of(SenseKey.NOT_READY, left.inProgress()));
            return;
        }
        task.work(() -> {
            try {
                store.save(STATE, new byte[0]);
            } catch (IOException | RuntimeException e) {
                medium.end(left.failure());
                throw e;
            }
            failed(null);
            medium.end(null);
            return ScsiTask::good;
        });
    }
}
