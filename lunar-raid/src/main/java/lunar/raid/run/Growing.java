package lunar.raid.run;

import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import lunar.block.BlockDevice;
import lunar.block.BusyException;
import lunar.block.DeviceGoneException;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;
import lunar.raid.RaidVolume;
import lunar.raid.meta.Creation;
import lunar.raid.meta.Growth;
import lunar.raid.meta.VolumeMetadata;

/**
 * Gives a running volume one member more. Requests wait while the others' superblocks are written: some milliseconds.
 * What may fail is tried before that, as far as it can be.
 */
final class Growing {
    /** Where the parts of the volume go on with the metadata that come of it. */
    interface Swap {
        /** The volume's clock stands still from now on: nobody looks at its members. On the timer's thread. */
        void stopClock();

        /** The volume has grown; it goes on, and so does the clock. */
        void grown(VolumeMetadata metadata, MemberFaults faults);

        /** It broke off in the middle: what there is now only the next start can tell. */
        void broken(String why);
    }

    private static final String BUSY = "the volume is being read through: wait until that has ended";

    private final RaidVolume volume;
    private final BackgroundScans scans;
    private final ScheduledExecutorService timer;
    private final Executor workers;
    private final Swap swap;

    Growing(RaidVolume volume, BackgroundScans scans, ScheduledExecutorService timer,
            Executor workers,
            Swap swap) {
        this.volume = volume;
        this.scans = scans;
        this.timer = timer;
        this.workers = workers;
        this.swap = swap;
    }

    /**
     * Does it; nothing else changes members meanwhile. Blocks. The device is the volume's where it returns.
     *
     * @param force whether what is on the device may be destroyed
     */
    void grow(VolumeMetadata metadata, String uri, BlockDevice device, boolean force)
            throws StorageException {
        Growth.check(metadata, uri, device);
        Optional<String> occupant = force ? Optional.empty() : Creation.occupant(device);
        if (occupant.isPresent()) {
            throw new InvalidRequestException(uri + " has " + occupant.get()
                    + ", which would be destroyed: name another device, or force it");
        }
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
            volume.pause(() -> timer.execute(() -> idle(metadata, uri, device, end)));
        } catch (IllegalStateException e) {
            throw new BusyException(BUSY, e);
        }
        Optional<StorageException> failure = end.join(); // the device is in use until then
        if (failure.isPresent()) {
            throw failure.get();
        }
    }

    /** Nothing is in flight; a member may have failed until now, and then all goes on as it was. */
    private void idle(VolumeMetadata metadata, String uri, BlockDevice device,
            CompletableFuture<Optional<StorageException>> end) {
        try {
            Growth.check(metadata, uri, device);
        } catch (InvalidRequestException e) {
            volume.resume();
            end.complete(Optional.of(e));
            return;
        }
        metadata.pause(failure -> timer.execute(() -> {
            Optional<StorageException> degraded = failure == null
                    ? degraded(metadata, uri, device)
                    : Optional.empty();
            if (degraded.isPresent()) {
                end.complete(degraded);
                return;
            }
            swap.stopClock();
            workers.execute(() -> end.complete(failure == null
                    ? grown(metadata, uri, device)
                    : broken(failure)));
        }));
    }

    /** Why nothing comes of it, where a member has failed that the volume can do without: it goes on as it was. */
    private Optional<StorageException> degraded(VolumeMetadata metadata, String uri,
            BlockDevice device) {
        if (!volume.shape().level().isRedundant() || !volume.state().serving()) {
            return Optional.empty();
        }
        try {
            Growth.check(metadata, uri, device);
            return Optional.empty();
        } catch (InvalidRequestException e) {
            metadata.goOn();
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
