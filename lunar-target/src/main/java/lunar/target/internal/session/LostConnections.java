package lunar.target.internal.session;

import java.util.ArrayList;
import java.util.List;
import lunar.iscsi.pdu.TaskManagementRequest;
import lunar.iscsi.pdu.TaskManagementResponseCode;
import lunar.iscsi.session.ConnectionEvent;
import lunar.iscsi.session.ConnectionState;
import lunar.iscsi.spi.EventLoop;
import lunar.target.internal.task.Task;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the lost connections of a session at error recovery level 2. Their tasks continue without responses until the
 * initiator logs the connection out for recovery, by a Logout or a reinstating login, and reassigns the tasks to
 * another connection; or until a timeout (RFC 7143 sections 7.2.2 and 7.12.3). Confined to the thread of the session's
 * event loop.
 */
final class LostConnections {
    /** Most lost connections of a session, each of which keeps its unacknowledged responses. */
    static final int MAX_COUNT = 16;

    private static final class Lost {
        final FullFeature connection;
        boolean loggedOut;
        EventLoop.Timer timer = () -> {};

        Lost(FullFeature connection) { this.connection = connection; }
    }

    private final Session session;
    private final List<Lost> lost = new ArrayList<>();

    LostConnections(Session session) { this.session = session; }

    /** Adds a lost connection; beyond {@link #MAX_COUNT} the oldest is terminated. */
    void add(FullFeature connection) {
        if (lost.size() == MAX_COUNT) {
            lost.getFirst().connection.terminate("too many lost connections of its session",
                    new ConnectionEvent.SessionClosed());
        }
        lost.add(new Lost(connection));
    }

    /** Removes a connection after its timeout or when its tasks are aborted. */
    void remove(FullFeature connection) {
        lost.removeIf(one -> {
            if (one.connection.equals(connection)) {
                one.timer.cancel();
                return true;
            }
            return false;
        });
    }

    boolean isEmpty() { return lost.isEmpty(); }

    List<FullFeature> all() { return lost.stream().map(one -> one.connection).toList(); }

    /** Returns the lost connection of a CID that has not been logged out, or null. */
    @Nullable
    FullFeature waiting(int cid) {
        return lost.stream().filter(one -> !one.loggedOut && one.connection.cid() == cid)
                .map(one -> one.connection).findFirst().orElse(null);
    }

    /** Whether the tasks of this connection have no allegiance. */
    boolean isLoggedOut(FullFeature connection) {
        return lost.stream().anyMatch(one -> one.loggedOut && one.connection.equals(connection));
    }

    /** Returns the lost connection of a task without allegiance, or null. */
    @Nullable
    FullFeature loggedOut(Task task) {
        return lost.stream()
                .filter(one -> one.loggedOut
                        && one.connection.tasks().equals(task.connection()))
                .map(one -> one.connection).findFirst().orElse(null);
    }

    /**
     * Removes a connection for recovery: its tasks then have allegiance to no connection, for the negotiated time.
     *
     * @param expStatSn first StatSN of it that the initiator has not received
     */
    void logOut(FullFeature connection, int expStatSn) {
        connection.tasks().responses().acknowledge(expStatSn);
        for (Lost one : lost) {
            if (one.connection.equals(connection)) {
                one.loggedOut = true;
                one.timer = session.loop().schedule(connection::release, session.retainMs());
            }
        }
        if (connection.connection().state() == ConnectionState.CLEANUP_WAIT) {
            connection.connection().happened(new ConnectionEvent.CleanupBegun());
            connection.connection().happened(new ConnectionEvent.CleanupSucceeded());
        }
    }

    /** Returns the response to TASK REASSIGN (section 11.6.1); the task itself is moved after the response. */
    TaskManagementResponseCode judge(TaskManagementRequest request) {
        if (session.recoveryLevel() < 2) {
            return TaskManagementResponseCode.REASSIGNMENT_NOT_SUPPORTED;
        }
        Task task = find(request.referencedTaskTag());
        if (task == null || task.aborted() || !task.lun().equals(request.lun())) {
            return TaskManagementResponseCode.TASK_DOES_NOT_EXIST;
        }
        return loggedOut(task) == null
                ? TaskManagementResponseCode.TASK_STILL_ALLEGIANT
                : TaskManagementResponseCode.FUNCTION_COMPLETE;
    }

    /** Finds an ended task whose status is not acknowledged, on any connection; or null. */
    @Nullable
    Task find(int itt) {
        Task going = session.tasks().find(itt);
        if (going != null) {
            return going;
        }
        for (Lost one : lost) {
            Task ended = one.connection.tasks().unacknowledged(itt);
            if (ended != null) {
                return ended;
            }
        }
        for (FullFeature connection : session.connections()) {
            Task ended = connection.tasks().unacknowledged(itt);
            if (ended != null) {
                return ended;
            }
        }
        return null;
    }
}
