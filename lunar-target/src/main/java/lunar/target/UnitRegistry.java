package lunar.target;

import java.io.IOException;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import lunar.block.BlockDevice;
import lunar.block.StorageException;
import lunar.target.device.LogicalUnit;
import lunar.target.device.ScsiTarget;
import lunar.target.unit.UnitSpec;

/**
 * Maps the devices of a server to their logical units: a device at several LUNs, of one target or of several, is one
 * unit with one set of reservations and mode pages. Thread-safe.
 */
final class UnitRegistry {
    /** A unit and the number of its LUNs. */
    private record Shared(LogicalUnit unit, int luns) {}

    private static final System.Logger LOG = System.getLogger("lunar.target");

    private final IdentityHashMap<BlockDevice, Shared> units = new IdentityHashMap<>();
    private final ServerLimits limits;

    UnitRegistry(ServerLimits limits) { this.limits = limits; }

    /**
     * Returns the unit of a device, for one more LUN.
     *
     * @throws IOException when its saved state cannot be read
     */
    synchronized LogicalUnit take(ScsiTarget target, UnitSpec spec) throws IOException {
        Shared known = units.get(spec.device());
        LogicalUnit unit = known == null
                ? new LogicalUnit(target, spec, limits.maxTransferBytes(),
                        limits.abortTimeoutMs())
                : known.unit();
        units.put(spec.device(), new Shared(unit, known == null ? 1 : known.luns() + 1));
        return unit;
    }

    /**
     * Removes one LUN of a unit, when the commands by that LUN have ended.
     *
     * @return ends when nothing works on the device any more, if this was the last LUN
     */
    synchronized CompletableFuture<Void> giveBack(LogicalUnit unit) {
        BlockDevice device = unit.spec().device();
        Shared known = Objects.requireNonNull(units.get(device));
        if (known.luns() > 1) {
            units.put(device, new Shared(unit, known.luns() - 1));
            return CompletableFuture.completedFuture(null);
        }
        units.remove(device);
        return unit.quiet();
    }

    /** Checks whether the size of devices has changed. May block. */
    void checkCapacities() {
        List<LogicalUnit> all;
        synchronized (this) {
            all = units.values().stream().map(Shared::unit).toList();
        }
        for (LogicalUnit unit : all) {
            try {
                unit.checkCapacity();
            } catch (StorageException e) {
                LOG.log(System.Logger.Level.DEBUG, "no size of {0}: {1}", unit.device(),
                        e.getMessage());
            }
        }
    }

    /** Returns the number of units in use. */
    synchronized int count() { return units.size(); }
}
