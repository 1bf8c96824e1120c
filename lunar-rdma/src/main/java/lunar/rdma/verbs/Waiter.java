package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import lunar.rdma.ProviderException;

/** Waits by poll(2) until one of two descriptors is readable, or for a wakeup, which makes a third one readable. */
final class Waiter implements AutoCloseable {
    private static final int WAKEUP = 0;
    private static final int CONNECTIONS = 1;
    private static final int COMPLETIONS = 2;

    private final int eventfd;
    private final MemorySegment descriptors = Arena.ofAuto().allocate(LibcLayouts.POLL, 3);
    /** Guarded by this: the descriptor may belong to another file after the close. */
    private boolean isClosed;

    private Waiter(int eventfd, int connections, int completions) {
        this.eventfd = eventfd;
        watch(WAKEUP, eventfd);
        watch(CONNECTIONS, connections);
        watch(COMPLETIONS, completions);
    }

    /** Creates a waiter for two descriptors, and makes these non-blocking. */
    static Waiter open(int connections, int completions) throws ProviderException {
        Libc.setNonBlocking(connections);
        Libc.setNonBlocking(completions);
        return new Waiter(Libc.eventfd(), connections, completions);
    }

    private void watch(int index, int descriptor) {
        long at = index * LibcLayouts.POLL_BYTES;
        descriptors.set(JAVA_INT, at + LibcLayouts.POLL_FD, descriptor);
        descriptors.set(JAVA_SHORT, at + LibcLayouts.POLL_EVENTS, (short) Constants.POLLIN);
    }

    /**
     * Waits.
     *
     * @param limitMs longest wait; 0 for no limit
     * @return whether there may be completion events
     */
    boolean await(long limitMs) throws ProviderException {
        int timeoutMs = limitMs == 0 ? -1 : (int) Math.min(limitMs, Integer.MAX_VALUE);
        if (!Libc.poll(descriptors, timeoutMs)) {
            return false;
        }
        if (isReady(WAKEUP)) {
            Libc.reset(eventfd);
        }
        return isReady(COMPLETIONS);
    }

    private boolean isReady(int index) {
        return descriptors.get(JAVA_SHORT,
                index * LibcLayouts.POLL_BYTES + LibcLayouts.POLL_REVENTS) != 0;
    }

    synchronized void wakeup() {
        if (!isClosed) {
            Libc.signal(eventfd);
        }
    }

    @Override
    public synchronized void close() {
        isClosed = true;
        Libc.close(eventfd);
    }
}
