package lunar.target.internal.session;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import lunar.target.ServerLimits;

/** The open connections of a server, pending ones and those of normal sessions. Thread-safe. */
public final class ConnectionRegistry {
    private final Set<Connection> all = ConcurrentHashMap.newKeySet();
    private final PendingConnections pending;
    private final LoggedInConnections loggedIn;

    ConnectionRegistry(ServerLimits limits) {
        pending = new PendingConnections(limits);
        loggedIn = new LoggedInConnections(limits);
    }

    /** Adds a new connection; closes older ones if too many have not logged in. */
    void add(Connection connection) {
        all.add(connection);
        pending.add(connection).forEach(Connection::crowdOut);
    }

    /** Moves a connection from the pending ones to those of normal sessions. */
    void loggedIn(Connection connection) {
        pending.remove(connection);
        loggedIn.add(connection);
    }

    /** Removes a connection that has ended. */
    void remove(Connection connection) {
        all.remove(connection);
        loggedIn.remove(connection);
        pending.remove(connection);
    }

    /** Returns the connections of normal sessions. */
    LoggedInConnections loggedIn() {
        return loggedIn;
    }

    /** Has the connections of some portals ended or asked to log out. */
    public void leavePortals(List<BoundPortal> portals, long withinMs) {
        all.stream().filter(connection -> portals.contains(connection.portal()))
                .forEach(connection -> connection.leavePortal(withinMs));
    }

    public int count() { return all.size(); }

    /** Returns the bytes of memory of answers that peers have not taken. */
    public long answerBytes() {
        return all.stream().mapToLong(Connection::answerBytes).sum();
    }
}
