package lunar.raid.run;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lunar.block.StorageException;
import lunar.raid.meta.OwnerRecord;

/** What can be said of the owners that members name. */
final class Owners {
    private Owners() {}

    /** For a person. */
    static String title(OwnerRecord owner) {
        return ThisProcess.isHere(owner)
                ? "process " + owner.process().pid() + " of this host"
                : owner.title();
    }

    /** How long a record must stand still before its owner counts as dead: twice as long as it goes on by itself. */
    static Duration silence(OwnerRecord owner, OwnershipOptions options) {
        Duration twice = Duration.ofMillis(2L * Math.min(owner.leaseMs(),
                OwnerRecord.MAX_LEASE_MS));
        return twice.compareTo(options.silence()) > 0 ? twice : options.silence();
    }

    /** Whether the record of any member changes within a time. Blocks, until it does or the time is over. */
    static boolean changes(List<OwnedMember> members, Duration time, Duration pause)
            throws StorageException {
        Map<OwnedMember, Optional<OwnerRecord>> first = new HashMap<>();
        long untilNs = System.nanoTime() + time.toNanos();
        while (true) {
            for (OwnedMember one : members) {
                try {
                    Optional<OwnerRecord> now = one.read();
                    Optional<OwnerRecord> before = first.putIfAbsent(one, now);
                    if (before != null && !before.equals(now)) {
                        return true;
                    }
                } catch (StorageException _) {
                    // It is found out where it is written to.
                }
            }
            long leftNs = untilNs - System.nanoTime();
            if (leftNs <= 0) {
                return false;
            }
            Ownership.pause(Duration.ofNanos(Math.min(leftNs, pause.toNanos())));
        }
    }
}
