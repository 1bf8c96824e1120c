package lunar.initiator.multipath;

import java.util.List;
import lunar.initiator.SessionOptions;
import lunar.scsi.Lun;

/**
 * Options of a {@link MultipathDevice}. Start from {@link #of}.
 *
 * @param paths session options of each path, all to the same logical unit: at several portals, or several at one
 * @param lun LUN of the unit, the same by every path
 * @param policy chooses the path of each request
 * @param asymmetric whether the access states of port groups count (ALUA): only paths in the best one are used
 * @param noPathMs how long requests wait while no path is up, in milliseconds; 0 to fail at once, {@link #FOREVER}
 * @param minPauseMs before the login after one that failed or a session that was lost; doubled as long as sessions do
 *        not last as long as the pauses, with some jitter
 * @param maxPauseMs longest pause between two logins, and the one after a refusal that is meant for this initiator
 * @param stableCache whether the unit keeps acknowledged writes over resets and power failures although it has a write
 *        cache (WCE), as arrays with batteries do: then no flush fails because a session was made anew
 * @param listener receives the events of the unit and its paths
 */
public record MultipathOptions(List<SessionOptions> paths, Lun lun, PathPolicy policy,
        boolean asymmetric, long noPathMs, int minPauseMs, int maxPauseMs,
        boolean stableCache, PathListener listener) {
    /** For {@code noPathMs}: requests wait for a path as long as it takes. */
    public static final long FOREVER = Long.MAX_VALUE;

    /** Default for how long requests wait for a path. */
    public static final long DEFAULT_NO_PATH_MS = 30_000;

    private static final int MAX_PATHS = 256;

    public MultipathOptions {
        paths = List.copyOf(paths);
        if (paths.isEmpty() || paths.size() > MAX_PATHS) {
            throw new IllegalArgumentException(paths.size() + " paths: it takes 1 to " + MAX_PATHS);
        }
        if (noPathMs < 0 || minPauseMs < 1 || maxPauseMs < minPauseMs) {
            throw new IllegalArgumentException("times of paths: " + noPathMs + ", " + minPauseMs
                    + " and " + maxPauseMs + " ms");
        }
    }

    /** Returns options with least queue, ALUA, and {@link #DEFAULT_NO_PATH_MS}. */
    public static MultipathOptions of(List<SessionOptions> paths, Lun lun) {
        return new MultipathOptions(paths, lun, PathPolicy.leastQueue(), true, DEFAULT_NO_PATH_MS,
                100, 10_000, false, _ -> {});
    }

    /** Returns these options with another policy. */
    public MultipathOptions withPolicy(PathPolicy value) {
        return new MultipathOptions(paths, lun, value, asymmetric, noPathMs, minPauseMs, maxPauseMs,
                stableCache, listener);
    }

    /** Returns these options with or without regard to access states. */
    public MultipathOptions withAsymmetric(boolean value) {
        return new MultipathOptions(paths, lun, policy, value, noPathMs, minPauseMs, maxPauseMs,
                stableCache, listener);
    }

    /** Returns these options with another time to wait for a path. */
    public MultipathOptions withNoPathMs(long value) {
        return new MultipathOptions(paths, lun, policy, asymmetric, value, minPauseMs, maxPauseMs,
                stableCache, listener);
    }

    /** Returns these options with other pauses between logins. */
    public MultipathOptions withPauses(int minMs, int maxMs) {
        return new MultipathOptions(paths, lun, policy, asymmetric, noPathMs, minMs, maxMs,
                stableCache, listener);
    }

    /** Returns these options with a listener. */
    public MultipathOptions withListener(PathListener value) {
        return new MultipathOptions(paths, lun, policy, asymmetric, noPathMs, minPauseMs,
                maxPauseMs, stableCache, value);
    }

    /** Returns these options with a write cache that survives power failures, or one that may not. */
    public MultipathOptions withStableCache(boolean value) {
        return new MultipathOptions(paths, lun, policy, asymmetric, noPathMs, minPauseMs,
                maxPauseMs, value, listener);
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
