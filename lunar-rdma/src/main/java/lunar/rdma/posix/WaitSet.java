package lunar.rdma.posix;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import lunar.rdma.RdmaUnavailableException;

/**
 * Waits until one of some descriptors can be read, or until it is woken up: poll(2) with an eventfd. One thread waits,
 * any thread wakes up, adds and removes.
 */
public final class WaitSet implements AutoCloseable {
    private static final StructLayout POLLFD = Structs.struct("pollfd", Structs.number("fd"),
            Structs.half("events"), Structs.half("revents"));
    private static final long FD = Structs.offset(POLLFD, "fd");
    private static final long EVENTS = Structs.offset(POLLFD, "events");
    private static final short POLLIN = 1;

    private final Libc libc;
    private final Arena arena = Arena.ofShared();
    private final int eventfd;
    /** Number to write to the eventfd, then memory for the number that is read. */
    private final MemorySegment numbers = arena.allocate(ValueLayout.JAVA_LONG, 2);

    /** Descriptors besides the eventfd. Guarded by this, and replaced when it changes. */
    private int[] watched = {};
    private boolean isClosed;
    /** Objects that {@link #polled} belongs to; of the waiting thread. */
    private int[] prepared = {-1};
    private MemorySegment polled = MemorySegment.NULL;

    public WaitSet() throws RdmaUnavailableException {
        libc = Libc.LOOKUP.orElseThrow(
                () -> new RdmaUnavailableException("eventfd(2) cannot be called"));
        eventfd = libc.eventfd();
        if (eventfd < 0) {
            arena.close();
            throw new RdmaUnavailableException("cannot create an eventfd: no free file descriptor");
        }
        numbers.set(ValueLayout.JAVA_LONG, 0, 1);
    }

    /** Watches a descriptor as well, from the next wait on. */
    public synchronized void add(int descriptor) {
        watched = Arrays.copyOf(watched, watched.length + 1);
        watched[watched.length - 1] = descriptor;
    }

    /** Ends watching a descriptor, which is closed afterwards. */
    public synchronized void remove(int descriptor) {
        watched = Arrays.stream(watched).filter(other -> other != descriptor).toArray();
    }

    private synchronized int[] watched() { return watched; }

    /**
     * Waits until a descriptor is readable or {@link #wakeup} is called; may return spuriously.
     *
     * @param limitMs time limit in milliseconds; 0 for none
     */
    public void await(long limitMs) {
        int[] descriptors = watched();
        if (!Arrays.equals(descriptors, prepared)) {
            prepare(descriptors);
        }
        int timeout = limitMs == 0 ? -1 : (int) Math.min(limitMs, Integer.MAX_VALUE);
        if (libc.poll(polled, descriptors.length + 1, timeout) > 0) {
            libc.reset(eventfd, numbers.asSlice(Long.BYTES));
        }
    }

    private void prepare(int[] descriptors) {
        // The old array stays with the arena: queues are added a few times in the life of a channel.
        polled = arena.allocate(POLLFD, descriptors.length + 1L);
        for (int i = 0; i <= descriptors.length; i++) {
            long at = i * POLLFD.byteSize();
            polled.set(ValueLayout.JAVA_INT, at + FD, i == 0 ? eventfd : descriptors[i - 1]);
            polled.set(ValueLayout.JAVA_SHORT, at + EVENTS, POLLIN);
        }
        prepared = descriptors;
    }

    /** Makes the current or, if there is none, the next wait return at once. Any thread, even after the close. */
    public synchronized void wakeup() {
        if (!isClosed) {
            libc.signal(eventfd, numbers);
        }
    }

    @Override
    public synchronized void close() {
        if (!isClosed) {
            isClosed = true;
            libc.close(eventfd);
            arena.close();
        }
    }
}
