package lunar.target.internal.session;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import lunar.target.ServerLimits;

/**
 * Tracks connections without a normal session: before login, or in discovery. Any peer can open them, so they have a
 * separate, lower limit, and each origin has a share of it. At the limit the oldest is closed: a login takes
 * milliseconds, but a silent socket would stay forever. Thread-safe.
 */
final class PendingConnections {
    private static final System.Logger LOG = System.getLogger("lunar.target");

    private final int most;
    private final int mostOfOrigin;
    private final Map<Origin, LinkedHashSet<Connection>> byOrigin = new LinkedHashMap<>();
    private int count;
    private boolean told;

    PendingConnections(ServerLimits limits) {
        most = limits.maxPendingConnections();
        mostOfOrigin = limits.maxPendingOfOrigin();
    }

    /** Adds a new connection; returns the connections that must be closed for it. */
    synchronized List<Connection> add(Connection connection) {
        var leaving = new ArrayList<Connection>();
        LinkedHashSet<Connection> own = byOrigin.get(connection.origin());
        if (own != null && own.size() >= mostOfOrigin) {
            leaving.add(own.getFirst());
        } else if (count >= most) {
            leaving.add(oldestOfLargest());
        }
        leaving.forEach(this::remove);
        if (!leaving.isEmpty() && !told) {
            told = true;
            LOG.log(System.Logger.Level.WARNING, "{0} connections have not logged in; closing the "
                    + "oldest connections of the origins with most of them, starting with {1}",
                    count + 1,
                    leaving.getFirst().origin());
        }
        byOrigin.computeIfAbsent(connection.origin(), _ -> new LinkedHashSet<>()).add(connection);
        count++;
        return leaving;
    }

    /** Returns the oldest connection of the origin that has the most. */
    private Connection oldestOfLargest() {
        var largest = new LinkedHashSet<Connection>();
        for (LinkedHashSet<Connection> each : byOrigin.values()) {
            largest = each.size() > largest.size() ? each : largest;
        }
        return largest.getFirst();
    }

    /** Removes a connection that has begun a normal session, or ended. */
    synchronized void remove(Connection connection) {
        LinkedHashSet<Connection> own = byOrigin.get(connection.origin());
        if (own != null && own.remove(connection)) {
            count--;
            if (own.isEmpty()) {
                byOrigin.remove(connection.origin());
            }
            told &= count > most / 2;
        }
    }

    synchronized int count() { return count; }
}
