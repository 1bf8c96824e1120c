package lunar.initiator.multipath;

import java.util.List;
import java.util.Optional;
import lunar.block.ConnectionRecords;
import lunar.initiator.SessionOptions;
import lunar.scsi.Lun;

/**
 * Options of a {@link MultipathDevice}. Start from {@link #of}.
 *
 * @param paths session options of each path, all to the same logical unit, at different portals or at the same one
 * @param lun LUN of the unit, equal on every path
 * @param policy chooses the path of each request
 * @param asymmetric whether to use access states of port groups (ALUA): only paths in the best state are used
 * @param noPathMs how long requests wait while no path is up, in milliseconds; 0 to fail at once, {@link #FOREVER}
 * @param minPauseMs pause before the login after a failed login or a lost session; doubled as long as sessions last
 *        shorter than the pauses, with jitter
 * @param maxPauseMs longest pause between two logins, and pause after a rejection of this initiator
 * @param stableCache whether the unit keeps acknowledged writes across resets and power failures although it has a
 *        write cache (WCE), like arrays with batteries; then no flush fails because a session was re-established
 * @param listener receives the events of the unit and its paths
 * @param records where the sessions are recorded, so that the next process ends those of a killed one before it writes;
 *        empty to record nothing
 */
public record MultipathOptions(List<SessionOptions> paths, Lun lun, PathPolicy policy,
        boolean asymmetric, long noPathMs, int minPauseMs, int maxPauseMs,
        boolean stableCache, PathListener listener, Optional<ConnectionRecords> records) {
    /** Value of {@code noPathMs} for waiting without limit. */
    public static final long FOREVER = Long.MAX_VALUE;

    /** Default for how long requests wait for a path. */
    public static final long DEFAULT_NO_PATH_MS = 30_000;

    private static final int MAX_PATHS = 256;

    public MultipathOptions {
        paths = List.copyOf(paths);
        if (paths.isEmpty() || paths.size() > MAX_PATHS) {
            throw new IllegalArgumentException(
                    paths.size() + " paths; the number must be 1 to " + MAX_PATHS);
        }
        if (noPathMs < 0 || minPauseMs < 1 || maxPauseMs < minPauseMs) {
            throw new IllegalArgumentException(
                    "path times out of range: " + noPathMs + ", " + minPauseMs
                            + " and " + maxPauseMs + " ms");
        }
    }

    /** Returns options with least queue, ALUA, and {@link #DEFAULT_NO_PATH_MS}. */
    public static MultipathOptions of(List<SessionOptions> paths, Lun lun) {
        return new MultipathOptions(paths, lun, PathPolicy.leastQueue(), true, DEFAULT_NO_PATH_MS,
                100, 10_000, false, _ -> {}, Optional.empty());
    }

    /** Returns these options with another policy. */
    public MultipathOptions withPolicy(PathPolicy value) {
        return new MultipathOptions(paths, lun, value, asymmetric, noPathMs, minPauseMs, maxPauseMs,
                stableCache, listener, records);
    }

    /** Returns these options with or without regard to access states. */
    public MultipathOptions withAsymmetric(boolean value) {
        return new MultipathOptions(paths, lun, policy, value, noPathMs, minPauseMs, maxPauseMs,
                stableCache, listener, records);
    }

    /** Returns these options with another time to wait for a path. */
    public MultipathOptions withNoPathMs(long value) {
        return new MultipathOptions(paths, lun, policy, asymmetric, value, minPauseMs, maxPauseMs,
                stableCache, listener, records);
    }

    /** Returns these options with other pauses between logins. */
    public MultipathOptions withPauses(int minMs, int maxMs) {
        return new MultipathOptions(paths, lun, policy, asymmetric, noPathMs, minMs, maxMs,
                stableCache, listener, records);
    }

    /** Returns these options with a listener. */
    public MultipathOptions withListener(PathListener value) {
        return new MultipathOptions(paths, lun, policy, asymmetric, noPathMs, minPauseMs,
                maxPauseMs, stableCache, value, records);
    }

    /** Returns these options with a write cache that survives power failures, or one that may not. */
    public MultipathOptions withStableCache(boolean value) {
        return new MultipathOptions(paths, lun, policy, asymmetric, noPathMs, minPauseMs,
                maxPauseMs, value, listener, records);
    }

    /**
     * Returns these options with a place where the sessions are recorded. Each is recorded before its first write, on
     * stable storage, and removed when none of its writes can be performed any longer. When a device is opened, writes
     * wait until the sessions that a killed process has left in the records are ended at the target, by logins with
     * their ISIDs (RFC 7143 section 6.3.5): something on the way may still hold writes of theirs.
     *
     * @param value belongs to this process alone: sessions of another live process would be ended
     */
    public MultipathOptions withRecords(ConnectionRecords value) {
        return new MultipathOptions(paths, lun, policy, asymmetric, noPathMs, minPauseMs,
                maxPauseMs, stableCache, listener, Optional.of(value));
    }

    /**
     * Returns when a request fails that finds no path now.
     *
     * @param nowNanos by {@link System#nanoTime}
     * @return likewise; 0 for never
     */
    long giveUpNanos(long nowNanos) {
        return noPathMs == FOREVER ? 0 : Math.max(1, nowNanos + noPathMs * 1_000_000);
    }
}
