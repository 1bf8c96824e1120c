package lunar.initiator.multipath;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import lunar.block.BlockRequest;
import lunar.block.Identity;
import org.jspecify.annotations.Nullable;

/**
 * Holds back writes to blocks that a write of a {@linkplain PathSession stale session} may still change, until that
 * session is known to have ended at its target. Otherwise, a write delayed in a network, a proxy or the target itself
 * could overwrite a later, acknowledged one. Reads and flushes are never held: executing them twice, or before an
 * unacknowledged write, is harmless.
 *
 * <p>All devices of the process for one unit share its barrier, which outlives them while a session is stale, so that a
 * RAID member that is closed and reopened waits for its earlier writes. Thread-safe; costs a volatile read while no
 * session is stale.
 */
final class WriteBarrier {
    /** Maximum number of units with stale sessions and no device open; beyond it the oldest are forgotten. */
    static final int MAX_UNUSED = 4096;

    private static final System.Logger LOG = System.getLogger("lunar.initiator");

    /** Contains the target name, because not every target gives each unit its own identity. */
    private record Key(String targetName, Identity identity) {}

    private static final Map<Key, WriteBarrier> BARRIERS = new LinkedHashMap<>(); // guarded by itself

    private final Key key;
    private final List<BarrierUser> users = new ArrayList<>(); // guarded by BARRIERS
    private final List<PathSession> stale = new ArrayList<>(); // guarded by itself
    private volatile boolean raised;

    private WriteBarrier(Key key) { this.key = key; }

    /** Returns the barrier of a unit, and adds a device that uses it from now on. */
    static WriteBarrier join(BarrierUser user, String targetName, Identity identity) {
        synchronized (BARRIERS) {
            WriteBarrier barrier = BARRIERS.computeIfAbsent(new Key(targetName, identity),
                    WriteBarrier::new);
            barrier.users.add(user);
            return barrier;
        }
    }

    /** Adds sessions that an earlier process has left, to be ended before anything is written. */
    void inherit(List<PathSession> earlier, BarrierUser by) {
        synchronized (stale) {
            earlier.stream().filter(each -> stale.stream().noneMatch(each::isEarlierLike)).toList()
                    .forEach(stale::add);
            stale.stream().filter(PathSession::isEarlier).forEach(each -> each.followedBy(by));
            raised = !stale.isEmpty();
        }
    }

    /** Removes a closed device. The sessions that its paths have left are for others to end. */
    void leave(BarrierUser user, List<PathSession> left) {
        left.forEach(PathSession::orphan);
        left.forEach(session -> session.closed(user));
        stale().forEach(session -> session.closed(user));
        List<PathSession> forgotten = List.of();
        synchronized (BARRIERS) {
            boolean _ = users.remove(user);
            if (users.isEmpty() && !raised) {
                boolean _ = BARRIERS.remove(key, this);
            } else if (users.isEmpty()) {
                forgotten = forgetOldest();
            }
        }
        forgotten.forEach(PathSession::ended);
        forgotten.forEach(PathSession::over);
        if (raised) {
            users().forEach(BarrierUser::adopt);
        }
    }

    private static List<PathSession> forgetOldest() {
        List<WriteBarrier> unused = BARRIERS.values().stream().filter(each -> each.users.isEmpty())
                .toList();
        if (unused.size() > MAX_UNUSED) {
            WriteBarrier gone = unused.getFirst();
            LOG.log(System.Logger.Level.WARNING,
                    "{0}: too many lost sessions; unanswered writes of the oldest are no longer tracked",
                    gone.key.targetName());
            boolean _ = BARRIERS.remove(gone.key, gone);
            return gone.stale();
        }
        return List.of();
    }

    /** Returns the stale sessions that are not of a device's own paths: of devices that are closed, or unreachable. */
    List<PathSession> staleBeside(BarrierUser user) {
        synchronized (stale) {
            return stale.stream().filter(each -> !each.isOf(user)).toList();
        }
    }

    /** Raises the barrier for an unanswered write of a session that has ended. */
    void raise(PathSession session, BlockRequest request) {
        synchronized (stale) {
            if (!session.leave(request) || stale.contains(session)) {
                return;
            }
            stale.add(session);
            raised = true;
        }
        users().stream().filter(user -> !session.isOf(user)).forEach(BarrierUser::adopt);
    }

    /** Has any device of the unit end a session that is in doubt, and where no path will log in again. */
    void abandon(PathSession session) {
        if (!session.isInDoubt()) {
            return;
        }
        session.orphan();
        synchronized (stale) {
            if (!stale.contains(session)) {
                stale.add(session);
            }
            raised = true;
        }
        users().forEach(BarrierUser::adopt);
    }

    private List<BarrierUser> users() {
        synchronized (BARRIERS) {
            return List.copyOf(users);
        }
    }

    /** Returns the session that holds a request back; null for none. */
    @Nullable
    PathSession before(BlockRequest request) {
        if (!raised || !changes(request)) {
            return null;
        }
        synchronized (stale) {
            for (PathSession each : stale) {
                if (each.mayUndo(request)) {
                    return each;
                }
            }
        }
        return null;
    }

    /** Lowers the barrier for sessions that the target has ended: requests that waited for that continue. */
    void lower(List<PathSession> ended) {
        ended.forEach(PathSession::ended);
        boolean lowered;
        synchronized (stale) {
            lowered = stale.removeAll(ended);
            raised = !stale.isEmpty();
        }
        try {
            if (lowered) {
                users().forEach(BarrierUser::lowered);
            }
        } finally {
            ended.forEach(PathSession::over); // last, because it may write a record
        }
    }

    /** Returns the sessions that are not known to have ended. */
    List<PathSession> stale() {
        synchronized (stale) {
            return List.copyOf(stale);
        }
    }

    static boolean changes(BlockRequest request) {
        return switch (request.operation()) {
            case READ, FLUSH -> false;
            case WRITE, UNMAP, WRITE_ZEROES, COMPARE_AND_WRITE -> true;
        };
    }
}
