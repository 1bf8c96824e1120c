package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import lunar.rdma.ProviderException;

/** Functions of libc on file descriptors. */
final class Libc {
    private static final NativeFunction EVENTFD;
    private static final NativeFunction FCNTL;
    private static final NativeFunction POLL;
    private static final NativeFunction READ;
    private static final NativeFunction WRITE;
    private static final NativeFunction CLOSE;
    /** What {@link #signal} adds. */
    private static final MemorySegment ONE = Arena.global().allocate(JAVA_LONG);

    static {
        NativeLibrary libc = NativeLibrary.libc();
        EVENTFD = libc.function("eventfd");
        FCNTL = libc.function("fcntl");
        POLL = libc.function("poll");
        READ = libc.function("read");
        WRITE = libc.function("write");
        CLOSE = libc.function("close");
        ONE.set(JAVA_LONG, 0, 1);
    }

    private Libc() {}

    /** eventfd(2): returns a counter that does not block. */
    static int eventfd() throws ProviderException {
        return EVENTFD.value(0, Constants.EFD_CLOEXEC | Constants.EFD_NONBLOCK);
    }

    /** Adds 1 to an eventfd, which makes it readable. */
    static void signal(int eventfd) {
        WRITE.run(eventfd, ONE.address(), Long.BYTES);
    }

    /** Resets an eventfd to 0. */
    static void reset(int eventfd) {
        try (Arena arena = Arena.ofConfined()) {
            READ.run(eventfd, arena.allocate(JAVA_LONG).address(), Long.BYTES);
        }
    }

    /** Sets O_NONBLOCK by fcntl(2), whose last argument is variadic, but in a register like any other. */
    static void setNonBlocking(int descriptor) throws ProviderException {
        int flags = FCNTL.value(descriptor, Constants.F_GETFL);
        int _ = FCNTL.value(descriptor, Constants.F_SETFL, flags | Constants.O_NONBLOCK);
    }

    /**
     * poll(2) on an array of struct pollfd.
     *
     * @param timeoutMs negative for no limit
     * @return whether the events are set; not so after a signal
     */
    static boolean poll(MemorySegment descriptors, int timeoutMs) throws ProviderException {
        long count = descriptors.byteSize() / LibcLayouts.POLL_BYTES;
        return POLL.ready(descriptors.address(), count, timeoutMs);
    }

    static void close(int descriptor) { CLOSE.run(descriptor); }
}
