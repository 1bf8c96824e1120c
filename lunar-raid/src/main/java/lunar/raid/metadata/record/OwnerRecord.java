package lunar.raid.metadata.record;

import java.util.UUID;
import lunar.raid.metadata.page.Page;

/**
 * Which process runs a volume, as it says on each of its members: docs/raid-format.md, "Owner". Immutable.
 *
 * @param volume UUID of the volume
 * @param epoch counts the owners of the volume, from 1 on; of two records the higher one is of the present owner
 * @param token random, one for each time that the volume is run
 * @param beat counts up at an even pace as long as the owner runs the volume
 * @param released whether the owner has stopped using the volume
 * @param leaseMs for how long an owner that could not confirm its record still answers, in milliseconds
 * @param key of the owner's reservation of those members that take one; 0 where it makes none
 * @param process the owner
 * @param contact where commands reach it: the path of a socket on its host; may be empty
 */
public record OwnerRecord(UUID volume, long epoch, UUID token, long beat, boolean released,
        int leaseMs, long key, ProcessId process, String contact) {
    /** No lease is longer, whatever a record says, in milliseconds. */
    public static final int MAX_LEASE_MS = 60_000;

    /**
     * A process, so that another one on its host can tell whether it still runs.
     *
     * @param boot random at each boot of the host's kernel; nil where that is not known
     * @param pidNamespace the inode of its PID namespace; 0 where that is not known
     * @param pid its number there
     * @param startTicks when it started, in clock ticks since boot; 0 where that is not known
     * @param uid its user
     * @param host the host's name
     */
    public record ProcessId(UUID boot, long pidNamespace, long pid, long startTicks, int uid,
            String host) {}

    public OwnerRecord {
        if (epoch <= 0 || epoch >= Page.MAX_GENERATION || leaseMs < 0) {
            throw new IllegalArgumentException("epoch " + epoch + ", lease " + leaseMs + " ms");
        }
    }

    /** Returns this record, one beat later. */
    public OwnerRecord next() {
        return new OwnerRecord(volume, epoch, token, beat + 1, released, leaseMs, key, process,
                contact);
    }

    /** Returns this record, one beat later, for an owner that has stopped using the volume. */
    public OwnerRecord asReleased() {
        return new OwnerRecord(volume, epoch, token, beat + 1, true, leaseMs, key, process,
                contact);
    }

    /** Whether this owner came after another one, or at the same time. */
    public boolean supersedes(OwnerRecord other) {
        return !token.equals(other.token) && epoch >= other.epoch;
    }

    /** Returns the owner for the operator: "host alpha pid 4711". */
    public String title() {
        return "host " + process.host() + " pid " + process.pid();
    }
}
