package lunar.rdma.libfabric;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.concurrent.CopyOnWriteArrayList;
import lunar.rdma.CompletionStatus;
import lunar.rdma.ProviderException;
import lunar.rdma.spi.ProviderQueue;
import lunar.rdma.spi.RawCompletions;

/**
 * A completion queue of shm, which reads the native queues of its endpoints. It also reports operations that were
 * rejected on this side, and posts operations again for which libfabric had no room.
 */
final class ShmQueue implements ProviderQueue {
    /** A rejected operation, which was not posted. */
    private record Refused(long id, CompletionStatus status, int code) {}

    private final ShmChannel channel;
    private final Arena arena = Arena.ofShared();
    private final CompletionReader reader = new CompletionReader(
            arena.allocate(CompletionReader.BYTES, 64));
    private final CopyOnWriteArrayList<ShmEndpoint> endpoints = new CopyOnWriteArrayList<>();
    /** Endpoint that is read first, in turn. */
    private int turn;
    /** Guarded by itself. */
    private final ArrayDeque<Refused> refused = new ArrayDeque<>();
    private volatile boolean hasRefused;

    ShmQueue(ShmChannel channel) { this.channel = channel; }

    void add(ShmEndpoint endpoint) { endpoints.add(endpoint); }

    void remove(ShmEndpoint endpoint) { endpoints.remove(endpoint); }

    /** Reports an operation that is not performed. Any thread. */
    void refuse(long id, CompletionStatus status, int code) {
        synchronized (refused) {
            refused.add(new Refused(id, status, code));
            hasRefused = true;
        }
        channel.wakeup();
    }

    @Override
    public int poll(RawCompletions into) throws ProviderException {
        int before = into.size();
        if (channel.hasBacklog()) {
            channel.postBacklog();
        }
        if (hasRefused) {
            takeRefused(into);
        }
        int count = endpoints.size();
        int first = count < 2 ? 0 : Math.floorMod(turn++, count);
        for (int i = 0; i < count && into.room() > 0; i++) {
            endpoints.get((first + i) % count).read(this, reader, into);
        }
        return into.size() - before;
    }

    private void takeRefused(RawCompletions into) {
        synchronized (refused) {
            while (into.room() > 0 && !refused.isEmpty()) {
                Refused one = refused.remove();
                into.addError(one.id(), one.status(), one.code());
            }
            hasRefused = !refused.isEmpty();
        }
    }

    @Override
    public boolean arm() {
        channel.announceSleep();
        return !hasRefused;
    }

    @Override
    public void close() { arena.close(); }
}
