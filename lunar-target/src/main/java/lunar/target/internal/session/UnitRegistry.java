package lunar.target.internal.session;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lunar.block.StorageException;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.LogicalUnits;
import lunar.scsi.target.UnitContext;
import lunar.scsi.target.UnitKey;
import lunar.scsi.target.UnitSpec;
import lunar.target.IoLimit;
import lunar.target.ServerLimits;
import lunar.target.internal.task.RateLimiter;
import org.jspecify.annotations.Nullable;

/**
 * Maps unit keys to the logical units of a server: a device at several LUNs, of one target or of several, is one unit
 * with one set of reservations and mode pages. Thread-safe.
 */
public final class UnitRegistry {
    /** A unit, the number of its LUNs, and the limit on its commands if there is one. */
    private record Shared(LogicalUnit unit, int luns, @Nullable RateLimiter rate) {
        Shared withLuns(int number) { return new Shared(unit, number, rate); }
    }

    private static final System.Logger LOG = System.getLogger("lunar.target");

    private final Map<UnitKey, Shared> units = new HashMap<>();
    private final UnitContext context;

    public UnitRegistry(ServerLimits limits) {
        context = new UnitContext(limits.maxTransferBytes(), limits.abortTimeoutMs());
    }

    /**
     * Returns the unit of a device, and counts one more LUN of it.
     *
     * @throws IOException if its saved state cannot be read
     */
    synchronized LogicalUnit take(String targetName, UnitSpec spec) throws IOException {
        Shared known = units.get(spec.unitKey());
        Shared now = known == null
                ? new Shared(LogicalUnits.open(spec, targetName, context), 1, null)
                : known.withLuns(known.luns() + 1);
        units.put(spec.unitKey(), now);
        return now.unit();
    }

    /**
     * Sets or removes the limit on the commands to a unit; an unchanged one remembers what it has admitted.
     *
     * @return what enforces it
     */
    synchronized Optional<RateLimiter> limit(LogicalUnit unit, Optional<IoLimit> limit) {
        Shared known = Objects.requireNonNull(units.get(unit.key()));
        RateLimiter rate = RateLimiter.of(limit, known.rate());
        units.put(unit.key(), new Shared(known.unit(), known.luns(), rate));
        return Optional.ofNullable(rate);
    }

    /**
     * Removes one LUN of a unit, after the commands to that LUN have ended.
     *
     * @return completes when the device is no longer in use, and the unit's state is saved, if this was the last LUN
     */
    CompletableFuture<Void> giveBack(LogicalUnit unit) {
        UnitKey key = unit.key();
        synchronized (this) {
            Shared known = Objects.requireNonNull(units.get(key));
            if (known.luns() > 1) {
                units.put(key, known.withLuns(known.luns() - 1));
                return CompletableFuture.completedFuture(null);
            }
            units.remove(key);
        }
        return end(unit);
    }

    /** Follows other servers as long as something works on the device here: one that takes that over waits for it. */
    private static CompletableFuture<Void> end(LogicalUnit unit) {
        return unit.quiet().exceptionally(_ -> null).thenCompose(_ -> unit.end());
    }

    /**
     * Ends what units do for other servers of theirs, when nothing works on their devices any more. Does not block.
     *
     * @return completes when the state of all units is saved, within a bounded time, but for those on whose devices
     *         something still works
     */
    public CompletableFuture<Void> end() {
        return CompletableFuture.allOf(all().stream().map(unit -> {
            boolean isQuiet = unit.quiet().isDone();
            CompletableFuture<Void> end = end(unit);
            return isQuiet ? end : CompletableFuture.<Void>completedFuture(null);
        }).toArray(CompletableFuture[]::new));
    }

    private synchronized List<LogicalUnit> all() {
        return units.values().stream().map(Shared::unit).toList();
    }

    /** Checks whether devices have changed by themselves, for example their sizes. May block. */
    public void refresh() {
        for (LogicalUnit unit : all()) {
            try {
                unit.refresh();
            } catch (StorageException e) {
                LOG.log(System.Logger.Level.DEBUG, "cannot query the state of {0}: {1}",
                        unit.device().identity(),
                        e.getMessage());
            }
        }
    }

    /** Returns the number of units in use. */
    public synchronized int count() {
        return units.size();
    }
}
