package lunar.target;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Counts the connections of normal sessions, in all and by origin, so that no address takes all of them however many
 * valid logins it has. Logins that complete on several loops at the same moment may exceed a limit by one each.
 * Thread-safe.
 */
final class LoggedInConnections {
    private final int most;
    private final int mostOfOrigin;
    private final Map<Origin, Set<Connection>> byOrigin = new HashMap<>();
    private int count;

    LoggedInConnections(ServerLimits limits) {
        most = limits.maxConnections();
        mostOfOrigin = limits.maxConnectionsPerAddress();
    }

    /** Whether all connections that there may be are taken. */
    synchronized boolean isFull() {
        return count >= most;
    }

    /** How many an origin has. */
    synchronized int of(Origin origin) {
        Set<Connection> own = byOrigin.get(origin);
        return own == null ? 0 : own.size();
    }

    /** How many an origin may have. */
    int mostOfOrigin() { return mostOfOrigin; }

    /** A connection has begun or joined a normal session. */
    synchronized void add(Connection connection) {
        if (byOrigin.computeIfAbsent(connection.origin(), _ -> new HashSet<>()).add(connection)) {
            count++;
        }
    }

    /** A connection has ended. */
    synchronized void remove(Connection connection) {
        Set<Connection> own = byOrigin.get(connection.origin());
        if (own != null && own.remove(connection)) {
            count--;
            if (own.isEmpty()) {
                byOrigin.remove(connection.origin());
            }
        }
    }
}
