package lunar.iser;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.spi.Polling;
import lunar.iser.connection.Completed;
import lunar.iser.connection.Home;
import lunar.iser.connection.IserTransport;
import lunar.loop.EventSource;
import lunar.loop.EventSourceLoop;
import lunar.rdma.Completion;
import lunar.rdma.CompletionQueue;
import lunar.rdma.Completions;
import lunar.rdma.EventChannel;
import lunar.rdma.ProtectionDomain;
import lunar.rdma.RdmaException;

/**
 * Event source of one event loop and one RDMA device: polls the event channel and the completion queues of the loop's
 * connections. Completion queues are created as endpoints need them.
 */
final class IserSource implements EventSource, Home {
    private static final System.Logger LOG = System.getLogger("lunar.iser");

    /** Depth of a completion queue: room for some tens of connections. */
    private static final int QUEUE_DEPTH = 16_384;
    private static final int BATCH = 64;

    private final EventChannel channel;
    private final int queueDepth;
    private final EventSourceLoop loop;
    private final Set<IserTransport> connections = ConcurrentHashMap.newKeySet();
    /** Immutable list that is replaced under the lock of this, since polling takes no lock. */
    private volatile List<CompletionQueue> queues = List.of();
    private final Completions batch = new Completions(BATCH);
    private List<IserTransport> touched = new ArrayList<>();
    private List<IserTransport> ending = new ArrayList<>();
    /** Whether there have been connection events since the last poll. */
    private boolean hasEvents;

    private IserSource(String name, ProtectionDomain domain, Polling polling)
            throws RdmaException {
        channel = domain.openChannel();
        queueDepth = Math.min(QUEUE_DEPTH, domain.device().limits().maxCompletionDepth());
        loop = new EventSourceLoop(name, this, polling);
    }

    static IserSource start(String name, ProtectionDomain domain, Polling polling)
            throws RdmaException {
        var source = new IserSource(name, domain, polling);
        source.loop.start();
        return source;
    }

    @Override
    public EventLoop loop() { return loop; }

    EventSourceLoop ownLoop() { return loop; }

    EventChannel channel() { return channel; }

    /** Returns a completion queue that has room for a number of operations; any thread. */
    synchronized CompletionQueue queueFor(int operations) throws RdmaException {
        for (CompletionQueue queue : queues) {
            if (queue.room() >= operations) {
                return queue;
            }
        }
        var more = new ArrayList<>(queues);
        CompletionQueue made = channel.createCompletionQueue(queueDepth);
        more.add(made);
        queues = List.copyOf(more);
        return made;
    }

    /** Adds a connection; any thread. */
    void add(IserTransport connection) {
        connections.add(connection);
    }

    @Override
    public void remove(IserTransport connection) { connections.remove(connection); }

    @Override
    public void touched(IserTransport connection) { touched.add(connection); }

    /** Notes a connection event, so that {@link #poll} reports activity. */
    void happened() {
        hasEvents = true;
    }

    @Override
    public boolean poll() throws IOException {
        channel.poll();
        return handle();
    }

    @Override
    public void await(long limitMs) throws IOException {
        if (touched.isEmpty()) {
            channel.await(limitMs);
        } else {
            channel.poll();
        }
        boolean _ = handle();
    }

    /** Handles the available completions, then the connections that these concern. */
    private boolean handle() throws RdmaException {
        boolean any = hasEvents || !touched.isEmpty();
        hasEvents = false;
        for (CompletionQueue queue : queues) {
            int count = queue.poll(batch);
            for (int i = 0; i < count; i++) {
                handle(batch.get(i));
            }
            any |= count > 0;
        }
        endTurn();
        return any;
    }

    /** Handles a completion. An error that its connection has not handled does not affect other connections. */
    private static void handle(Completion completion) {
        if (completion.attachment() instanceof Completed operation) {
            try {
                operation.completed(completion);
            } catch (RuntimeException | Error e) {
                LOG.log(System.Logger.Level.ERROR, "internal error at " + completion, e);
            }
        }
    }

    private void endTurn() {
        List<IserTransport> now = touched;
        touched = ending;
        ending = now;
        for (IserTransport each : now) {
            try {
                each.turnEnd(); // may touch connections, for the next turn
            } catch (RuntimeException | Error e) {
                LOG.log(System.Logger.Level.ERROR,
                        "internal error of the connection with " + each.remote(), e);
                each.abort();
            }
        }
        now.clear();
    }

    @Override
    public void wakeup() { channel.wakeup(); }

    @Override
    public int size() { return channel.size(); }

    @Override
    public void close() {
        List.copyOf(connections).forEach(IserTransport::endWithLoop);
        channel.close();
    }
}
