package lunar.initiator.internal.session;

import java.util.ArrayList;
import java.util.List;
import lunar.iscsi.spi.EventLoop;
import org.jspecify.annotations.Nullable;

/**
 * The open connections of a session: chooses the connection of each command, and flushes output once per batch of
 * received PDUs. Modified and chosen from under the lock of {@link Tasks}; read and flushed without it.
 */
final class OpenConnections {
    private final EventLoop loop;
    /** Replaced as a whole. */
    private volatile List<Connection> all = List.of();
    private int turn;
    /** Event loop's thread only. */
    private boolean inBatch;

    OpenConnections(EventLoop loop) { this.loop = loop; }

    List<Connection> all() { return all; }

    /** Adds a connection; with the lock held. */
    void add(Connection connection) {
        var more = new ArrayList<>(all);
        more.add(connection);
        all = List.copyOf(more);
    }

    /** Removes a connection; with the lock held. */
    void remove(Connection connection) {
        all = all.stream().filter(each -> !each.equals(connection)).toList();
    }

    /** Returns the connection for the next command: the one with the fewest, in turn; with the lock held. */
    @Nullable
    Connection choose() {
        List<Connection> now = all;
        int count = now.size();
        if (count == 1) {
            return now.getFirst().draining ? null : now.getFirst();
        }
        Connection best = null;
        for (int i = 0; i < count; i++) {
            Connection each = now.get(Integer.remainderUnsigned(turn + i, count));
            if (!each.draining && (best == null || each.inFlight < best.inFlight)) {
                best = each;
            }
        }
        turn++;
        return best;
    }

    /** Begins a batch of received PDUs: output of the event loop's thread then waits for {@link #batchEnds}. */
    void batchBegins() {
        inBatch = true;
    }

    /** Sends the output that waited for the end of the batch. */
    void batchEnds() {
        inBatch = false;
        List<Connection> now = all;
        for (int i = 0; i < now.size(); i++) { // without an iterator to allocate
            Connection each = now.get(i);
            if (each.unflushed) {
                each.unflushed = false;
                each.flush();
            }
        }
    }

    /** Sends queued output, without the lock; in a batch on the event loop's thread {@link #batchEnds} does that. */
    void flush(Connection connection) {
        if (loop.inLoop() && inBatch) {
            connection.unflushed = true;
        } else {
            connection.flush();
        }
    }

    /** Flushes all of them. */
    void flush() { all.forEach(this::flush); }
}
