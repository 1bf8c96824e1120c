package lunar.server;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import lunar.block.DeviceUri;
import lunar.block.Size;
import lunar.block.Usage;

/**
 * Warns when the store behind a thin unit fills up, before writes fail: at 10% and at 3% of the space that the unit has
 * or can still get, and when nothing is left. A warning is repeated only after space was freed. Not thread-safe.
 */
final class SpaceWatch {
    /** How urgent it is. */
    private enum Level {
        ENOUGH(100), LOW(10), VERY_LOW(3), NONE(0);

        private final int percent;

        Level(int percent) { this.percent = percent; }

        /** @param margin percent that are added, so that a unit at the limit does not change levels all the time */
        static Level of(Usage usage, int margin) {
            double total = (double) usage.usedBytes() + usage.availableBytes();
            Level level = ENOUGH;
            for (Level next : values()) {
                if (next != ENOUGH && usage
                        .availableBytes() <= (next.percent + margin) * total / 100.0) {
                    level = next;
                }
            }
            return level;
        }
    }

    private static final int MARGIN_PERCENT = 2;

    private final ServerListener listener;
    private final Map<UUID, Level> told = new HashMap<>();

    SpaceWatch(ServerListener listener) { this.listener = listener; }

    /** Looks at the units of a server. */
    void look(List<TargetAssembly.Placed> units) {
        Set<UUID> present = new HashSet<>();
        for (TargetAssembly.Placed unit : units) {
            if (!unit.planned().readOnly() && present.add(unit.source().identity())) {
                needed(unit.source()).ifPresent(usage -> look(unit, usage));
            }
        }
        told.keySet().retainAll(present);
    }

    /** Returns the usage of a thin unit; empty if its store can hold all of it, or it is not written. */
    private static Optional<Usage> needed(ServedSource source) {
        if (source instanceof ServedSource.Disk disk && disk.device().readOnly()) {
            return Optional.empty();
        }
        return source.usage().filter(
                usage -> usage.usedBytes() + usage.availableBytes() < source.sizeBytes()
                        || source instanceof ServedSource.Other);
    }

    private void look(TargetAssembly.Placed unit, Usage usage) {
        UUID identity = unit.source().identity();
        Level before = told.getOrDefault(identity, Level.ENOUGH);
        Level now = Level.of(usage, 0);
        if (now.compareTo(before) > 0) {
            told.put(identity, now);
            listener.warned(message(unit, usage, now), null);
        } else if (now.compareTo(before) < 0) {
            told.put(identity, Level.of(usage, MARGIN_PERCENT));
        }
    }

    private static String message(TargetAssembly.Placed unit, Usage usage, Level level) {
        String what = "LUN " + unit.lun() + " of " + unit.iqn() + " ("
                + DeviceUri.withoutSecret(unit.uri()) + ")";
        if (level == Level.NONE) {
            return what + ": its store is full: writes that need space fail; free some space";
        }
        long missing = unit.source().sizeBytes() - usage.usedBytes();
        return what + ": its store has " + Size.format(usage.availableBytes()) + " of free space"
                + (missing > usage.availableBytes()
                        ? ", less than the " + Size.format(missing)
                                + " that the unit can still need"
                        : "")
                + "; free some space, or writes will fail";
    }
}
