package lunar.raid.engine;

import lunar.block.AbortedException;
import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.raid.ScanOptions;
import lunar.raid.engine.member.Trampoline;
import lunar.raid.engine.scan.VolumeScan;
import lunar.raid.engine.stripe.VolumeRequest;
import lunar.raid.layout.ReshapeMap.Window;
import org.jspecify.annotations.Nullable;

/**
 * Moves a volume that has got more members into its new layout, some rows at a time ({@link
 * lunar.raid.layout.ReshapeMap}). Blocks of a window are read from the old layout, and written as whole stripes of the
 * new one, with all redundancy; requests for them wait meanwhile.
 *
 * <p><b>Crashes.</b> If a window overwrites blocks that it moves itself, which happens in the first rows only, its new
 * stripes are first written to an area beside the data of each member, the <i>staging</i> area; once that is noted,
 * after a crash each member's part is copied in place. All other windows overwrite what was moved before, and that is
 * noted: after a crash they are moved again. Journal entries of their rows are not replayed.
 *
 * <p><b>Failures.</b> A member that fails is missing in both layouts, and the reshape goes on as long as the level
 * survives. Blocks that cannot be read end it, and it can go on when they have been written again. Its checkpoint
 * counts rows.
 */
final class ReshapeScan extends VolumeScan {
    private final Migration migration;
    private final ReshapeWindow work;
    private final Runnable finished;
    private RangeGate.Pass pass = new RangeGate.Pass(0, 0, true, _ -> {});
    private Window window = new Window(0, 0, false);

    /** @param finished called before the end, when no block is left in the old layout, and that is stable */
    ReshapeScan(Migration migration, ScanOptions options, Runnable finished) {
        super(migration.after, options, migration.rows());
        this.migration = migration;
        this.finished = finished;
        work = new ReshapeWindow(migration, options.batch());
    }

    @Override
    public long stripes() { return migration.map.rows(); }

    void start() { Trampoline.run(this::next); }

    private void next() {
        StorageException obstacle = obstacle();
        if (obstacle == null && isCancelled()) {
            obstacle = new AbortedException(this + " was cancelled at row " + checkpoint());
        }
        if (obstacle != null) {
            end(obstacle);
        } else if (checkpoint() == stripes()) {
            migration.state.keeper().finished(this::finished);
        } else {
            window = migration.map.next(checkpoint(), options.batch(), work.stagingRows());
            pass = new RangeGate.Pass(migration.map.blocks(window.from()),
                    migration.map.blocks(window.end()), true, this::read);
            migration.gate.enter(pass);
        }
    }

    private @Nullable StorageException obstacle() {
        StorageException shut = migration.gate.whyShut();
        return engine.isClosed() ? engine.gone(this) : shut == null ? volumeEnd() : shut;
    }

    private void finished(@Nullable StorageException failure) {
        if (failure == null) {
            finished.run();
        }
        end(failure);
    }

    // --- a window, until something is overwritten ---

    private void read(@Nullable StorageException refusal) {
        if (refusal != null) {
            end(refusal);
            return;
        }
        BlockRequest request = work.begin(window);
        if (request.blockCount() == 0) { // nothing but new blocks
            afterRead(null);
        } else {
            new VolumeRequest(migration.tasksBefore, (_, _, failure) -> afterRead(failure))
                    .start(request);
        }
    }

    private void afterRead(@Nullable StorageException failure) {
        if (failure instanceof MediumException) {
            giveUp(new MediumException(this + ": blocks from "
                    + migration.map.blocks(window.from()) + " to "
                    + migration.map.blocks(window.end())
                    + " cannot all be read; write those that cannot, then let it go on ("
                    + failure.getMessage() + ")", failure));
        } else if (failure != null) {
            giveUp(failure);
        } else if (window.isStaged()) {
            work.compute();
            Trampoline.run(() -> work.write(true, this::afterStaging));
        } else {
            work.compute();
            settle();
        }
    }

    private void afterStaging(@Nullable StorageException failure) {
        if (failure == null) {
            settle();
        } else {
            giveUp(failure);
        }
    }

    /** Waits until the guard has settled: what is logged of these rows is of the old layout. */
    private void settle() {
        engine.options.guard().settle(() -> Trampoline.run(this::settled));
    }

    private void settled() {
        StorageException obstacle = obstacle();
        if (obstacle != null) {
            giveUp(obstacle);
        } else if (window.isStaged()) {
            migration.state.keeper().staged(window.from(), window.rows(),
                    failure -> Trampoline.run(() -> putInPlace(failure)));
        } else {
            putInPlace(null);
        }
    }

    /** Ends the reshape before anything valid has been overwritten: the window stays where it was. */
    private void giveUp(StorageException cause) {
        migration.gate.leave(pass);
        end(cause);
    }

    // --- from here on the window is in neither layout ---

    private void putInPlace(@Nullable StorageException failure) {
        if (failure == null) {
            work.write(false, this::afterWrites);
        } else {
            fail(failure);
        }
    }

    private void afterWrites(@Nullable StorageException failure) {
        if (failure == null) {
            migration.state.keeper().moved(window.from(), window.end(),
                    why -> Trampoline.run(() -> moved(why)));
        } else if (window.isStaged()) {
            fail(failure);
        } else {
            giveUp(failure); // what was written is where no valid data are any more
        }
    }

    private void moved(@Nullable StorageException failure) {
        if (failure != null) {
            fail(failure);
            return;
        }
        migration.moved(window.end());
        passed(window.end());
        migration.gate.leave(pass);
        options.pace().next(work.bytes(), () -> Trampoline.run(this::next));
    }

    /** Refuses access to the window's blocks until the next start of the volume has put them in place. */
    private void fail(StorageException cause) {
        var end = new DeviceGoneException(this + " broke off at row " + window.from()
                + "; stop the volume and start it again: " + cause.getMessage(), cause);
        migration.gate.shut(end);
        end(end);
    }

    @Override
    public String toString() { return "reshape"; }
}
