package lunar.store;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * System calls on files that Java does not provide, on a separate descriptor: exclusive use of a disk and holes in
 * files. Linux with 64 bits only; absent elsewhere and where native access is not enabled for the module.
 */
final class LinuxFile implements AutoCloseable {
    /** Deallocates a range, which reads as zeroes (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE). */
    static final int PUNCH_HOLE = 0x02 | 0x01;
    /** Zeroes a range in the cheapest way (FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE). */
    static final int ZERO_RANGE = 0x10 | 0x01;

    /** Allocates space for a range without changing its content (FALLOC_FL_KEEP_SIZE). */
    static final int RESERVE = 0x01;

    private static final int O_RDWR = 0x2;
    private static final int O_EXCL = 0x80;
    private static final int O_CLOEXEC = 0x80000;
    private static final int SEEK_END = 2;
    private static final int SEEK_DATA = 3;
    private static final int SEEK_HOLE = 4;
    private static final int AT_EMPTY_PATH = 0x1000;
    private static final int STATX_INO = 0x100;
    private static final int STATX_BLOCKS = 0x400;
    private static final int STATX_BTIME = 0x800;
    /** Size of struct statx, and offsets in it: the same on every processor. */
    private static final int STATX_BYTES = 256;
    private static final int STX_INO = 32;
    private static final int STX_BLOCKS = 48;
    private static final int STX_BTIME_SECONDS = 80;
    private static final int STX_BTIME_NANOS = 88;
    private static final int SECTOR_BYTES = 512;
    private static final int POSIX_FADV_DONTNEED = 4;

    private final int descriptor;

    private LinuxFile(int descriptor) { this.descriptor = descriptor; }

    /** Whether this process has the calls at all. */
    static boolean isAvailable() {
        return Calls.AVAILABLE;
    }

    /**
     * Opens a descriptor of our own; empty if the calls are not available.
     *
     * @param exclusive for a disk: fails with {@link BusyDisk} when it is mounted or part of something
     */
    static Optional<LinuxFile> open(Path path, boolean writable, boolean exclusive)
            throws IOException {
        return open(path, (writable ? O_RDWR : 0) | (exclusive ? O_EXCL : 0));
    }

    /** Opens a descriptor of our own for direct I/O; empty if the calls are not available. */
    static Optional<LinuxFile> openDirect(Path path, boolean writable) throws IOException {
        int direct = switch (System.getProperty("os.arch")) {
            case "amd64" -> 0x4000; // O_DIRECT is not the same on every processor
            case "aarch64" -> 0x10000;
            default -> 0;
        };
        return direct == 0 ? Optional.empty() : open(path, direct | (writable ? O_RDWR : 0));
    }

    private static Optional<LinuxFile> open(Path path, int how) throws IOException {
        if (!isAvailable()) {
            return Optional.empty();
        }
        int flags = O_CLOEXEC | how;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Errno.STATE);
            int descriptor;
            do {
                descriptor = Calls.open(state, arena.allocateFrom(path.toString()), flags);
            } while (descriptor < 0 && Errno.in(state) == Errno.EINTR);
            if (descriptor < 0) {
                int errno = Errno.in(state);
                throw errno == Errno.EBUSY ? new BusyDisk(path) : failure("open of " + path, errno);
            }
            return Optional.of(new LinuxFile(descriptor));
        }
    }

    /** Its number, for other calls as long as this is open. */
    int descriptor() {
        return descriptor;
    }

    /** fallocate(2); false if the file system or disk has no such operation. */
    boolean allocate(int mode, long offsetBytes, long countBytes) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Errno.STATE);
            while (Calls.fallocate(state, descriptor, mode, offsetBytes, countBytes) != 0) {
                int errno = Errno.in(state);
                if (errno == Errno.EOPNOTSUPP || errno == Errno.ENOSYS) {
                    return false;
                }
                if (errno != Errno.EINTR) {
                    throw failure("fallocate", errno);
                }
            }
            return true;
        }
    }

    /** The first byte from an offset on that is not in a hole; the file's size where all is. See {@link #nextHole}. */
    OptionalLong nextData(long offsetBytes) throws IOException {
        return seek(offsetBytes, SEEK_DATA);
    }

    /**
     * The first byte from an offset on that is in a hole, as which the end of the file counts. Empty where the file
     * system or disk does not tell. Moves the descriptor's position, which is not used.
     */
    OptionalLong nextHole(long offsetBytes) throws IOException {
        return seek(offsetBytes, SEEK_HOLE);
    }

    /** Returns the bytes allocated to the file, by statx(2); empty if the system does not report them. */
    OptionalLong allocatedBytes() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment found = arena.allocate(STATX_BYTES, Long.BYTES);
            return (statx(arena, STATX_BLOCKS, found) & STATX_BLOCKS) != 0
                    ? OptionalLong.of(found.get(ValueLayout.JAVA_LONG, STX_BLOCKS) * SECTOR_BYTES)
                    : OptionalLong.empty();
        }
    }

    /** Drops clean pages of the file from the page cache, by posix_fadvise(2); best effort. */
    void dropCache() {
        dropCache(0, 0);
    }

    /**
     * Like {@link #dropCache()}, but for whole pages in a range.
     *
     * @param countBytes 0 for all to the end of the file
     */
    void dropCache(long offsetBytes, long countBytes) {
        try (Arena arena = Arena.ofConfined()) {
            Calls.dropCache(arena.allocate(Errno.STATE), descriptor, offsetBytes, countBytes);
        }
    }

    /** Inode and time of birth, by statx(2); empty if the system does not tell. */
    Optional<FileBirth> birth() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment found = arena.allocate(STATX_BYTES, Long.BYTES);
            int told = statx(arena, STATX_INO | STATX_BTIME, found);
            if ((told & STATX_INO) == 0) {
                return Optional.empty();
            }
            String born = (told & STATX_BTIME) == 0
                    ? ""
                    : Long.toUnsignedString(found.get(ValueLayout.JAVA_LONG, STX_BTIME_SECONDS))
                            + "." + found.get(ValueLayout.JAVA_INT, STX_BTIME_NANOS);
            return Optional.of(new FileBirth(
                    Long.toUnsignedString(found.get(ValueLayout.JAVA_LONG, STX_INO)), born));
        }
    }

    /** Returns the mask of the returned fields; 0 on failure. */
    private int statx(Arena arena, int wanted, MemorySegment found) {
        boolean failed = Calls.statx(arena.allocate(Errno.STATE), descriptor,
                arena.allocateFrom(""), wanted, found) != 0;
        return failed ? 0 : found.get(ValueLayout.JAVA_INT, 0);
    }

    private OptionalLong seek(long offsetBytes, int whence) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Errno.STATE);
            long found = Calls.lseek(state, descriptor, offsetBytes, whence);
            if (found >= 0) {
                return OptionalLong.of(found);
            }
            return switch (Errno.in(state)) {
                case Errno.ENXIO -> OptionalLong.of(Calls.lseek(state, descriptor, 0, SEEK_END));
                case Errno.EINVAL, Errno.EOPNOTSUPP, Errno.ENOSYS -> OptionalLong.empty();
                default -> throw failure("lseek", Errno.in(state));
            };
        }
    }

    @Override
    public void close() {
        try (Arena arena = Arena.ofConfined()) {
            Calls.close(arena.allocate(Errno.STATE), descriptor);
        }
    }

    private static IOException failure(String what, int errno) {
        return new IOException(what + ": " + Errno.text(errno));
    }

    /** The disk is mounted, or part of a volume. */
    static final class BusyDisk extends IOException {
        BusyDisk(Path path) { super(path + " is in use by the system"); }
    }

    /** Functions of libc, looked up once. */
    private static final class Calls {
        static final Optional<LibcCall> OPEN = LibcCall.find("open");
        static final Optional<LibcCall> FALLOCATE = LibcCall.find("fallocate");
        static final Optional<LibcCall> LSEEK = LibcCall.find("lseek");
        static final Optional<LibcCall> CLOSE = LibcCall.find("close");
        static final Optional<LibcCall> STATX = LibcCall.find("statx");
        static final Optional<LibcCall> FADVISE = LibcCall.find("posix_fadvise");
        static final boolean AVAILABLE = OPEN.isPresent() && FALLOCATE.isPresent()
                && LSEEK.isPresent() && CLOSE.isPresent();

        private Calls() {}

        static int open(MemorySegment state, MemorySegment path, int flags) {
            return (int) OPEN.orElseThrow().call(state, path.address(), flags, 0);
        }

        static int fallocate(MemorySegment state, int descriptor, int mode, long offset,
                long count) {
            return (int) FALLOCATE.orElseThrow().call(state, descriptor, mode, offset, count, 0);
        }

        static long lseek(MemorySegment state, int descriptor, long offset, int whence) {
            return LSEEK.orElseThrow().call(state, descriptor, offset, whence);
        }

        static void close(MemorySegment state, int descriptor) {
            long _ = CLOSE.orElseThrow().call(state, descriptor, 0, 0);
        }

        static void dropCache(MemorySegment state, int descriptor, long offset, long count) {
            FADVISE.ifPresent(advise -> advise.call(state, descriptor, offset, count,
                    POSIX_FADV_DONTNEED, 0));
        }

        /** Returns -1 if there is no such function. */
        static int statx(MemorySegment state, int descriptor, MemorySegment path, int wanted,
                MemorySegment into) {
            return STATX.map(statx -> (int) statx.call(state, descriptor, path.address(),
                    AT_EMPTY_PATH, wanted, into.address())).orElse(-1);
        }
    }
}
