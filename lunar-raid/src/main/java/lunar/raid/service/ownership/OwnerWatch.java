package lunar.raid.service.ownership;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lunar.block.StorageException;
import lunar.raid.OwnershipOptions;
import lunar.raid.metadata.record.OwnerRecord;

/** Evaluates the owner records of members. */
public final class OwnerWatch {
    private OwnerWatch() {}

    /** Returns the name of an owner for the operator. */
    public static String title(OwnerRecord owner) {
        return ThisProcess.isHere(owner)
                ? "process " + owner.process().pid() + " of this host"
                : owner.title();
    }

    /** Returns how long a record must stay unchanged before its owner counts as dead: at least twice its lease. */
    static Duration silence(OwnerRecord owner, OwnershipOptions options) {
        Duration twice = Duration
                .ofMillis((long) OwnedMember.SILENT_LEASES * Math.min(owner.leaseMs(),
                        OwnerRecord.MAX_LEASE_MS));
        return twice.compareTo(options.silence()) > 0 ? twice : options.silence();
    }

    /** Whether the record of any member changes within a time. Blocks until it does or the time is over. */
    public static boolean changes(List<OwnedMember> members, Duration time, Duration pause)
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
                    // The write of the record will report it.
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
