package lunar.rdma.libfabric;

import java.lang.foreign.Arena;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CopyOnWriteArrayList;
import lunar.rdma.CompletionStatus;
import lunar.rdma.ProviderException;
import lunar.rdma.spi.ProviderQueue;
import lunar.rdma.spi.RawCompletions;

/**
 * A completion queue of shm, which reads the native queues of its endpoints. It also reports operations that libfabric
 * takes no part in, and posts operations again for which libfabric had no room.
 */
final class ShmQueue implements ProviderQueue {
    private final ShmChannel channel;
    private final Arena arena = Arena.ofShared();
    private final CompletionReader reader = new CompletionReader(
            arena.allocate(CompletionReader.BYTES, 64));
    private final CopyOnWriteArrayList<ShmEndpoint> endpoints = new CopyOnWriteArrayList<>();
    /** Number of polls: decides which endpoint is read first. */
    private int turn;
    /** Operations that have ended on this side; those from {@link #next} on are not reported yet. Guarded by itself. */
    private final RawCompletions ended = new RawCompletions(64);
    private int next;
    private volatile boolean hasEnded;

    ShmQueue(ShmChannel channel) { this.channel = channel; }

    void add(ShmEndpoint endpoint) { endpoints.add(endpoint); }

    void remove(ShmEndpoint endpoint) { endpoints.remove(endpoint); }

    /** Reports an operation that has been performed, has failed, or is not performed. Any thread. */
    void end(long id, CompletionStatus status, int code) {
        synchronized (ended) {
            if (ended.room() == 0) {
                makeRoom();
            }
            ended.addResult(id, status, code);
            hasEnded = true;
        }
        VarHandle.fullFence();
        channel.wakeSleeping();
    }

    /** Removes the reported entries if they are at least half of all, else grows, since it might never become empty. */
    private void makeRoom() {
        if (2 * next >= ended.size()) {
            ended.removeFirst(next);
            next = 0;
        } else {
            ended.grow();
        }
    }

    @Override
    public int poll(RawCompletions into) throws ProviderException {
        int before = into.size();
        if (channel.hasBacklog()) {
            channel.postBacklog();
        }
        // In turn, so that neither keeps the other from being reported.
        boolean isEndedFirst = turn % 2 == 0;
        if (isEndedFirst && hasEnded) {
            takeEnded(into);
        }
        int count = endpoints.size();
        int at = count < 2 ? 0 : Math.floorMod(turn, count);
        for (int i = 0; i < count && into.room() > 0; i++) {
            endpoints.get(at).read(this, reader, into);
            at = at + 1 == count ? 0 : at + 1;
        }
        if (!isEndedFirst && hasEnded) {
            takeEnded(into);
        }
        turn++;
        return into.size() - before;
    }

    private void takeEnded(RawCompletions into) {
        synchronized (ended) {
            while (into.room() > 0 && next < ended.size()) {
                into.addResult(ended.id(next), ended.status(next), ended.code(next));
                next++;
            }
            if (next == ended.size()) {
                ended.clear();
                next = 0;
                hasEnded = false;
            }
        }
    }

    @Override
    public boolean isCheapToPoll() { return true; }

    @Override
    public boolean arm() {
        channel.announceSleep();
        return !hasEnded;
    }

    @Override
    public void close() { arena.close(); }
}
