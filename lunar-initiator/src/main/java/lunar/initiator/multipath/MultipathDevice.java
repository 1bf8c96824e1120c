package lunar.initiator.multipath;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.Extent;
import lunar.block.Fencing;
import lunar.block.Geometry;
import lunar.block.Identity;
import lunar.block.Limits;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.block.spi.RequestValidation;
import lunar.initiator.Initiator;
import lunar.initiator.LunDevice;
import lunar.initiator.SessionOptions;

/**
 * A logical unit accessed over one or more paths. A lost session is replaced by a new one, and its requests are retried
 * if they are idempotent: all except compare-and-write, which fails with an unknown outcome. While no path is up,
 * requests wait for {@link MultipathOptions#noPathMs}. Thread-safe; buffers and interrupts as for {@link LunDevice}.
 */
public final class MultipathDevice implements BlockDevice {
    private final MultipathOptions options;
    private final Runnable whenClosed;
    private final MultipathUnit unit;
    private final MultipathRequests requests;

    private MultipathDevice(Initiator initiator, MultipathOptions options, Runnable whenClosed) {
        this.options = options;
        this.whenClosed = whenClosed;
        unit = new MultipathUnit(toString(), this, initiator, options);
        requests = new MultipathRequests(toString(), unit, options);
    }

    /**
     * Opens a unit. Waits until a path is up; the others follow.
     *
     * @throws DeviceGoneException if no path was up at the first try of each; or if the thread is interrupted, and
     *         remains so: the attempts of several paths then end first, each within the timeouts of its login
     */
    public static MultipathDevice open(Initiator initiator, MultipathOptions options)
            throws StorageException {
        return open(initiator, options, () -> {});
    }

    /** Like {@link #open(Initiator, MultipathOptions)}, but runs an action when the device is closed. */
    static MultipathDevice open(Initiator initiator, MultipathOptions options, Runnable whenClosed)
            throws StorageException {
        var device = new MultipathDevice(initiator, options, whenClosed);
        try {
            device.unit.open();
            return device;
        } catch (StorageException e) {
            device.close();
            throw e;
        }
    }

    /** Returns the paths, in the order they were given, whatever their state. */
    public List<Path> paths() {
        return List.copyOf(unit.paths().all());
    }

    // --- requests ---

    @Override
    public void submit(BlockRequest request) {
        try {
            requests.enter();
        } catch (DeviceGoneException e) {
            RequestCompletion.fail(request, e);
            return;
        }
        try {
            RequestValidation.check(request, this);
        } catch (StorageException e) {
            requests.end(request, e);
            return;
        }
        requests.submit(request);
    }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        requests.enter();
        try {
            RequestValidation.check(request, this);
            requests.execute(request);
        } finally {
            requests.leave();
        }
    }

    // --- what it is ---

    private LunDevice latest() { return unit.latest(); }

    @Override
    public Geometry geometry() { return latest().geometry(); }

    @Override
    public Limits limits() { return latest().limits(); }

    @Override
    public Set<Capability> capabilities() { return latest().capabilities(); }

    @Override
    public Identity identity() { return latest().identity(); }

    @Override
    public boolean readOnly() { return latest().readOnly(); }

    @Override
    public Optional<UUID> writeVerifier() { return latest().writeVerifier(); }

    @Override
    public long writeLosses() { return unit.writes().writeLosses(); }

    /** {@inheritDoc} The target compares. */
    @Override
    public boolean comparesForAllHosts() { return true; }

    @Override
    public Optional<Fencing> fencing() { return Optional.of(unit.reservations()); }

    @Override
    public Extent extent(long lba) throws StorageException {
        requests.enter();
        try {
            PathSession session = unit.paths().first();
            return session == null
                    ? BlockDevice.super.extent(lba)
                    : session.device().extent(lba);
        } catch (DeviceGoneException _) {
            return BlockDevice.super.extent(lba); // a path has gone, and it is but a hint
        } finally {
            requests.leave();
        }
    }

    /** Waits for the requests in flight, those without a path excepted, then logs out of all paths. Idempotent. */
    @Override
    public void close() {
        boolean interrupted = requests.close();
        interrupted |= unit.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        whenClosed.run();
    }

    @Override
    public String toString() {
        SessionOptions first = options.paths().getFirst();
        return first.targetName() + "/" + options.lun() + " over " + options.paths().size()
                + (options.paths().size() == 1 ? " path" : " paths");
    }
}
