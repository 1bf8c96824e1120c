package lunar.raid.service;

import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import lunar.block.BlockDevice;
import lunar.block.BusyException;
import lunar.block.DeviceGoneException;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;
import lunar.raid.engine.VolumeEngine;
import lunar.raid.metadata.Creation;
import lunar.raid.metadata.Growth;
import lunar.raid.metadata.VolumeMetadata;

/**
 * Adds a member to a running volume. Requests wait while the others' superblocks are written: some milliseconds. Steps
 * that may fail come before that, as far as possible.
 */
final class VolumeGrowth {
    /** Callbacks by which the parts of the volume switch to the new metadata. */
    interface Swap {
        /** Stops the volume's clock: its members are not checked from now on. On the timer's thread. */
        void stopClock();

        /** Called when the volume has grown: it resumes, and so does the clock. */
        void grown(VolumeMetadata metadata, MemberFaults faults);

        /** Called when growing broke off in the middle: only the next start can tell what the members hold. */
        void broken(String why);
    }

    private static final String BUSY = "the volume is being read through: wait until that has ended";

    private final VolumeEngine volume;
    private final ScanScheduler scans;
    private final ScheduledExecutorService timer;
    private final Executor workers;
    private final Swap swap;

    VolumeGrowth(VolumeEngine volume, ScanScheduler scans, ScheduledExecutorService timer,
            Executor workers,
            Swap swap) {
        this.volume = volume;
        this.scans = scans;
        this.timer = timer;
        this.workers = workers;
        this.swap = swap;
    }

    /**
     * Grows the volume; nothing else may change members meanwhile. Blocks. The volume owns the device on return.
     *
     * @param force whether what is on the device may be destroyed
     */
    void grow(VolumeMetadata metadata, String uri, BlockDevice device, boolean force)
            throws StorageException {
        Growth.check(metadata, uri, device);
        NewDeviceCheck.require(metadata, uri, device, force);
        Creation.clear(device, metadata.record().description().layout());
        if (!scans.hold()) {
            throw new BusyException(BUSY);
        }
        try {
            swap(metadata, uri, device);
        } finally {
            scans.release();
        }
    }

    private void swap(VolumeMetadata metadata, String uri, BlockDevice device)
            throws StorageException {
        var end = new CompletableFuture<Optional<StorageException>>();
        try {
            volume.pause(() -> run(timer, () -> idle(metadata, uri, device, end), end));
        } catch (IllegalStateException e) {
            throw new BusyException(BUSY, e);
        }
        Optional<StorageException> failure = end.join(); // the device is in use until then
        if (failure.isPresent()) {
            throw failure.get();
        }
    }

    /** Called when nothing is in flight; if a member has failed until now, the volume goes on unchanged. */
    private void idle(VolumeMetadata metadata, String uri, BlockDevice device,
            CompletableFuture<Optional<StorageException>> end) {
        try {
            Growth.check(metadata, uri, device);
        } catch (InvalidRequestException e) {
            volume.resume();
            end.complete(Optional.of(e));
            return;
        }
        metadata.pause(failure -> run(timer, () -> {
            Optional<StorageException> degraded = failure == null
                    ? degraded(metadata, uri, device)
                    : Optional.empty();
            if (degraded.isPresent()) {
                end.complete(degraded);
                return;
            }
            swap.stopClock();
            run(workers, () -> end.complete(failure == null
                    ? grown(metadata, uri, device)
                    : broken(failure)), end);
        }, end));
    }

    /** Runs a step; where the volume has been closed meanwhile, that is the end. */
    private static void run(Executor on, Runnable step,
            CompletableFuture<Optional<StorageException>> end) {
        try {
            on.execute(step);
        } catch (RejectedExecutionException e) {
            end.complete(Optional.of(new DeviceGoneException("the volume is closed", e)));
        }
    }

    /** Returns why the volume cannot grow if a member has failed that it can do without: it then goes on unchanged. */
    private Optional<StorageException> degraded(VolumeMetadata metadata, String uri,
            BlockDevice device) {
        if (!volume.shape().level().isRedundant() || !volume.state().serving()) {
            return Optional.empty();
        }
        try {
            Growth.check(metadata, uri, device);
            return Optional.empty();
        } catch (InvalidRequestException e) {
            metadata.resume();
            volume.resume();
            return Optional.of(e);
        }
    }

    private Optional<StorageException> grown(VolumeMetadata metadata, String uri,
            BlockDevice device) {
        try {
            var faults = new MemberFaults();
            swap.grown(Growth.grow(metadata, uri, device, UUID.randomUUID(), faults), faults);
            return Optional.empty();
        } catch (StorageException e) {
            return broken(e);
        } catch (RuntimeException e) {
            return broken(new DeviceGoneException(String.valueOf(e), e));
        }
    }

    private Optional<StorageException> broken(StorageException why) {
        swap.broken("growing broke off: " + why.getMessage());
        return Optional.of(new DeviceGoneException("growing broke off, and the volume stops; start"
                + " it again, it has grown then or is as it was: " + why.getMessage(), why));
    }
}
