package lunar.scsi.target.block;

import java.io.IOException;
import java.util.Optional;
import java.util.UUID;
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
import lunar.scsi.target.UnitState;
import org.jspecify.annotations.Nullable;

/**
 * Runs the erasures of a unit, one at a time. An erasure is not stopped by aborts, resets or the end of the session;
 * meanwhile, commands that need the medium report its progress. If the unit's state outlives a restart of the server,
 * an interrupted SANITIZE starts over, an interrupted FORMAT UNIT leaves the medium corrupted until it is formatted,
 * and a failure stays (SBC-4 sections 4.10 and 4.11).
 *
 * <p>Of the servers that share a unit, one erases, after the others have ended their commands; none uses the medium
 * before it has been erased. A server that starts meanwhile starts the erasure over, and the previous one stops, if it
 * still runs. Thread-safe.
 */
final class Erasures {
    private static final System.Logger LOG = System.getLogger("lunar.target");
    private static final String STATE = "erasure";
    private static final Sense INTERNAL_FAILURE = Sense.of(SenseKey.HARDWARE_ERROR,
            AdditionalSense.INTERNAL_TARGET_FAILURE);

    private final Medium medium;
    private final BlockDevice device;
    private final UnitState<ErasureState> state;
    /** Tells this server from others. */
    private final UUID self = UUID.randomUUID();

    /** Last erasure that has not succeeded. */
    private @Nullable Erasure failed;
    /** The last one that was begun here. */
    private volatile @Nullable LongOperation own;

    /** @throws IOException when the saved state cannot be read, or is damaged */
    Erasures(Medium medium, BlockDevice device, StateStore store) throws IOException {
        this.medium = medium;
        this.device = device;
        state = new UnitState<>(store, STATE, ErasureState.NONE,
                ErasureState.format(store.isShared(), device));
    }

    /** Returns the erasure that did not succeed and leaves the unit unusable, if there is one. */
    synchronized Optional<Erasure> failed() {
        return Optional.ofNullable(failed);
    }

    private synchronized void failed(@Nullable Erasure erasure) { failed = erasure; }

    /** Whether another server erases, by a state that the store has. */
    private boolean isElsewhere(ErasureState now) {
        return state.isShared() && now.goesOn() && !now.isOf(self);
    }

    /**
     * Goes on with what a restart of the server has interrupted; where servers share the unit, {@link #begin} does.
     *
     * @param readOnly whether the unit may not be written any more, so that a SANITIZE cannot go on
     */
    void resume(boolean readOnly) {
        Erasure erasure = state.value().erasure().orElse(null);
        if (erasure == null) {
            return;
        }
        if (isElsewhere(state.value())) {
            show();
            return;
        }
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
            inBackground(() -> erase(erasure, operation));
        }
    }

    /** Begins an erasure, for which the task waits unless it is immediate. On the task's loop. */
    void start(ScsiTask task, Erasure erasure, boolean immediate) {
        var operation = new LongOperation(erasure.inProgress());
        if (!medium.begin(operation)) {
            task.checkCondition(Sense.of(SenseKey.NOT_READY, erasure.inProgress()));
            return;
        }
        own = operation;
        var outcome = new CompletableFuture<Consumer<ScsiTask>>();
        inBackground(() -> {
            try {
                if (state.change(before -> isElsewhere(before)
                        ? null
                        : new ErasureState(Optional.of(erasure), Optional.of(self)),
                        (_, _) -> true) == null) { // before the first block is lost
                    medium.end(medium.failure().orElse(null));
                    outcome.complete(last -> last.checkCondition(operation.sense()));
                    return;
                }
            } catch (IOException | RuntimeException e) {
                LOG.log(System.Logger.Level.ERROR,
                        device + ": cannot start erasing: its state cannot be saved", e);
                endUnsaved(operation);
                outcome.complete(last -> last.checkCondition(INTERNAL_FAILURE));
                failIfSaved();
                return;
            }
            if (immediate) {
                outcome.complete(ScsiTask::good);
            }
            medium.awaitUnused();
            Sense failure = erase(erasure, operation);
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

    /** Erases the medium, which is the operation's, and lets it go. Returns why that has failed, or null. */
    private @Nullable Sense erase(Erasure erasure, LongOperation operation) {
        Sense failure = run(erasure, operation);
        if (operation.isStopped()) {
            medium.end(medium.failure().orElse(null));
            return operation.sense();
        }
        medium.end(failure);
        return failure;
    }

    private @Nullable Sense run(Erasure erasure, LongOperation operation) {
        Erasure ended = erasure.failing();
        try {
            new Eraser(device, operation).run(erasure);
            set(ErasureState.NONE);
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
        if (operation.isStopped()) {
            return null;
        }
        failed(ended);
        try {
            set(new ErasureState(Optional.of(ended), Optional.of(self)));
        } catch (IOException | RuntimeException e) {
            LOG.log(System.Logger.Level.ERROR, device + ": cannot save that its erasure failed", e);
        }
        return ended.failure();
    }

    /** Changes the state, unless another server has taken the erasure over. */
    private void set(ErasureState after) throws IOException {
        state.change(before -> isElsewhere(before) ? null : after, (_, _) -> true);
    }

    /** Leaves the state after a SANITIZE that failed, if it said that this may be (AUSE). */
    void exitFailure(ScsiTask task) throws InvalidCdbException {
        Erasure left = failed().filter(erasure -> !erasure.isFormat() && erasure.unrestricted())
                .orElseThrow(() -> InvalidCdbException.field(1, 4));
        if (!medium.begin(new LongOperation(left.inProgress()))) { // no other erasure starts meanwhile
            task.checkCondition(Sense.of(SenseKey.NOT_READY, left.inProgress()));
            return;
        }
        task.work(() -> {
            try {
                set(ErasureState.NONE);
            } catch (IOException | RuntimeException e) {
                medium.end(left.failure());
                throw e;
            }
            failed(null);
            medium.end(null);
            return ScsiTask::good;
        });
    }

    // --- servers that share the unit ---

    /**
     * Begins to follow other servers, and goes on with an erasure that one of them has begun.
     *
     * @param readOnly whether this server may not write the unit
     * @throws IOException when the state cannot be read
     */
    void begin(boolean readOnly) throws IOException {
        state.begin((_, _) -> follow(state.value())); // a change told late must not stop what began after it
        Erasure erasure = state.value().erasure().orElse(null);
        if (erasure == null || readOnly || !isElsewhere(state.value())) {
            return;
        }
        var operation = new LongOperation(erasure.inProgress());
        if (medium.begin(operation)) {
            own = operation;
            inBackground(() -> takeOver(operation));
        }
    }

    /** Follows no more changes of other servers. */
    void end() { state.end(); }

    private void takeOver(LongOperation operation) {
        try {
            var made = state.change(before -> isElsewhere(before)
                    ? new ErasureState(before.erasure(), Optional.of(self))
                    : null, (_, _) -> true);
            if (made == null) { // it has ended meanwhile
                medium.end(medium.failure().orElse(null));
                return;
            }
            LOG.log(System.Logger.Level.WARNING,
                    "{0}: an erasure that another server has begun begins anew", device);
            show();
            erase(made.after().erasure().orElseThrow(), operation);
        } catch (IOException | RuntimeException e) {
            LOG.log(System.Logger.Level.ERROR, "{0}: an erasure of another server does not go on"
                    + " here: {1}; restart this server or that one", device, e.getMessage());
            endUnsaved(operation);
            failIfSaved();
        }
    }

    /** Whether the store has an erasure of this server that is not under way here: its saving seemed to fail. */
    private boolean isLeft(ErasureState now) {
        return now.goesOn() && now.isOf(self) && medium.here().isEmpty();
    }

    /**
     * Ends an operation whose state seems not to have been saved. While it may have been, no command uses the medium:
     * none does at other servers, and the next one that starts erases what was written.
     */
    private synchronized void endUnsaved(LongOperation operation) {
        UnitState.View<ErasureState> now = state.view();
        if (now.proposed() != null) {
            medium.changedElsewhere(operation, medium.failure().orElse(null));
        }
        Optional<Erasure> saved = now.value().isOf(self) ? now.value().erasure() : Optional.empty();
        medium.end(saved.map(erasure -> erasure.failing().failure())
                .or(medium::failure).orElse(null));
    }

    /** Has an erasure fail which was saved after all, as soon as that is known. Blocks. */
    private void failIfSaved() {
        if (!state.isShared()) {
            return;
        }
        try {
            state.awaitKnown();
        } catch (InterruptedException _) {
            return;
        }
        show();
        failLeft();
    }

    /** Presents the medium as the state says that the servers have. */
    private synchronized void show() {
        ErasureState now = state.value();
        boolean left = isLeft(now);
        if (isElsewhere(now)) {
            medium.changedElsewhere(new LongOperation(now.erasure().orElseThrow().inProgress()),
                    null);
        } else if (now.goesOn() && !left) { // it goes on here
            medium.changedElsewhere(null, medium.failure().orElse(null));
        } else {
            Erasure ended = now.erasure().map(erasure -> left ? erasure.failing() : erasure)
                    .orElse(null);
            failed(ended);
            medium.changedElsewhere(null, ended == null ? null : ended.failure());
        }
    }

    /** Takes over what the store has; ends when this server has no command any more that uses a medium being erased. */
    private CompletableFuture<Void> follow(ErasureState now) {
        show();
        if (isLeft(now)) { // its command was told that it could not be saved
            inBackground(this::failLeft);
        }
        if (!isElsewhere(now)) {
            return CompletableFuture.completedFuture(null);
        }
        var unused = new CompletableFuture<Void>();
        inBackground(() -> {
            medium.awaitUnused();
            unused.complete(null);
        });
        LongOperation here = own;
        if (here == null) {
            return unused;
        }
        here.stop();
        return CompletableFuture.allOf(unused, here.end());
    }

    private void failLeft() {
        try {
            state.change(before -> isLeft(before)
                    ? new ErasureState(before.erasure().map(Erasure::failing), before.server())
                    : null, (_, _) -> true);
        } catch (IOException | RuntimeException e) {
            LOG.log(System.Logger.Level.ERROR, "the failure of an erasure of " + device, e);
        }
    }
}
