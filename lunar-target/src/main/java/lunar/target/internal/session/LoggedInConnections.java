package lunar.target.internal.session;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import lunar.target.ServerLimits;

/**
 * Counts the connections of normal sessions, in total and by origin, so that no address can use all of them, even with
 * valid logins. Logins that complete on several loops at the same moment may exceed a limit by one each. Thread-safe.
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

    /** Whether the limit of all connections is reached. */
    synchronized boolean isFull() {
        return count >= most;
    }

    /** Returns how many connections an origin has. */
    synchronized int of(Origin origin) {
        Set<Connection> own = byOrigin.get(origin);
        return own == null ? 0 : own.size();
    }

    /** Returns how many connections an origin may have. */
    int mostOfOrigin() {
        return mostOfOrigin;
    }

    /** Adds a connection that has begun or joined a normal session. */
    synchronized void add(Connection connection) {
        if (byOrigin.computeIfAbsent(connection.origin(), _ -> new HashSet<>()).add(connection)) {
            count++;
        }
    }

    /** Removes a connection that has ended; has no effect on one that was not added. */
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
