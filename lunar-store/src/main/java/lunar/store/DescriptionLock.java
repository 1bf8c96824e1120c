package lunar.store;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;

/**
 * Locks a whole file on behalf of an open file description (fcntl(2), F_OFD_SETLK). A POSIX lock belongs to the process
 * and is lost when the process closes any descriptor of the file; this lock is released only with the last reference to
 * the description. The kernel holds such a reference for each request of an io_uring that uses the descriptor, so no
 * other process gets the lock while one is being executed, even after the process has been killed. Both kinds of lock
 * conflict with each other, so processes that use either exclude each other.
 */
final class DescriptionLock {
    /** The result of an attempt. */
    enum Answer {
        /** The lock is held. */
        LOCKED,
        /** Another description or process holds it. */
        BUSY,
        /** The kernel or the file system has no such locks. */
        NOT_SUPPORTED
    }

    private static final int F_OFD_SETLK = 37;
    private static final short F_RDLCK = 0;
    private static final short F_WRLCK = 1;
    private static final short F_UNLCK = 2;

    /** struct flock where it has 64 bits; a length of 0 reaches to the end of the file, wherever that is. */
    private static final StructLayout FLOCK = MemoryLayout.structLayout(
            ValueLayout.JAVA_SHORT.withName("l_type"), ValueLayout.JAVA_SHORT.withName("l_whence"),
            MemoryLayout.paddingLayout(4), ValueLayout.JAVA_LONG.withName("l_start"),
            ValueLayout.JAVA_LONG.withName("l_len"), ValueLayout.JAVA_INT.withName("l_pid"),
            MemoryLayout.paddingLayout(4));

    /** Present wherever {@link LinuxFile#isAvailable} is true. */
    private static final LibcCall FCNTL = LibcCall.find("fcntl").orElseThrow();

    private DescriptionLock() {}

    /** Takes the lock of a file without waiting: exclusively to write it, shared to read it. */
    static Answer take(LinuxFile file, boolean exclusive) throws IOException {
        return switch (set(file, exclusive ? F_WRLCK : F_RDLCK)) {
            case 0 -> Answer.LOCKED;
            case Errno.EAGAIN, Errno.EACCES -> Answer.BUSY;
            default -> Answer.NOT_SUPPORTED;
        };
    }

    /** Releases the lock immediately; nothing uses the description any longer. */
    static void release(LinuxFile file) throws IOException {
        int errno = set(file, F_UNLCK);
        if (errno != 0) {
            throw new IOException("unlock: " + Errno.text(errno));
        }
    }

    /** Returns an errno; 0 where it succeeded. */
    private static int set(LinuxFile file, short type) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Errno.STATE);
            MemorySegment lock = arena.allocate(FLOCK);
            lock.set(ValueLayout.JAVA_SHORT, 0, type); // the rest is 0: from the beginning of the file
            int errno;
            do {
                int returned = (int) FCNTL.call(state, file.descriptor(), F_OFD_SETLK,
                        lock.address());
                errno = returned == 0 ? 0 : Errno.in(state);
            } while (errno == Errno.EINTR);
            return errno;
        }
    }
}
