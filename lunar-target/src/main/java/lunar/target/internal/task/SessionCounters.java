package lunar.target.internal.task;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import lunar.scsi.target.DeviceServer;
import lunar.target.status.CommandCounts;

/**
 * Counts the commands of a session, by unit. The counters of a unit stay until {@link #forget}, even if the unit is
 * hidden from the session or its task set is removed, so that the counts of the unit never go down. Thread-safe; each
 * {@link CommandCounters} has one writer.
 */
public final class SessionCounters {
    private final Map<DeviceServer, CommandCounters> units = new ConcurrentHashMap<>();
    /** Counts of units that were removed; guarded by this. */
    private CommandCounts others = CommandCounts.NONE;

    /** Returns the counters of the commands to a unit, or to LUNs without a unit. */
    CommandCounters of(DeviceServer server) {
        return units.computeIfAbsent(server, _ -> new CommandCounters());
    }

    /** Returns the counts of a unit; empty if there was no command to it. */
    public Optional<CommandCounts> counts(DeviceServer server) {
        return Optional.ofNullable(units.get(server)).map(CommandCounters::snapshot);
    }

    /** Returns the counts of all units. */
    public synchronized CommandCounts total() {
        return units.values().stream().map(CommandCounters::snapshot).reduce(others,
                CommandCounts::plus);
    }

    /** Adds the counts of a unit that is removed, and whose commands have ended, to those of no unit. */
    synchronized void forget(DeviceServer server) {
        CommandCounters counters = units.remove(server);
        if (counters != null) {
            others = others.plus(counters.snapshot().withoutInFlight());
        }
    }
}
