package lunar.store;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import lunar.block.DeviceLabels;

/**
 * Labels in the extended attributes {@code user.lunar.*} of a file (xattr(7)), which survive renaming. Accessed by
 * system calls on a descriptor: Java's attribute view opens and closes the file, which would release the process's lock
 * on it.
 *
 * @param file descriptor of the file, which outlives the labels
 */
record FileLabels(LinuxFile file) implements DeviceLabels {
    private static final String PREFIX = "user.lunar.";
    private static final int MAX_BYTES = 1024;
    private static final int ENODATA = 61;
    private static final int EOPNOTSUPP = 95;

    /** The file system has no extended attributes for users. */
    static final class Unsupported extends IOException {
        Unsupported() { super("the file system has no extended attributes"); }
    }

    /** Labels of an open file; empty if the calls are not available. */
    static Optional<FileLabels> of(LinuxFile file) {
        return Calls.AVAILABLE ? Optional.of(new FileLabels(file)) : Optional.empty();
    }

    /** Whether the file system has extended attributes. */
    boolean isSupported() {
        try {
            var _ = read("identity");
            return true;
        } catch (IOException _) {
            return false;
        }
    }

    /** @throws Unsupported if the file system has no extended attributes */
    @Override
    public Optional<String> read(String name) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Errno.STATE);
            MemorySegment room = arena.allocate(MAX_BYTES);
            long length = Calls.get(state, file.descriptor(), arena.allocateFrom(PREFIX + name),
                    room);
            if (length >= 0) {
                byte[] bytes = room.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
                return Optional.of(new String(bytes, StandardCharsets.US_ASCII));
            }
            return switch (Errno.in(state)) {
                case ENODATA -> Optional.empty();
                case EOPNOTSUPP -> throw new Unsupported();
                default -> throw new IOException("attribute " + PREFIX + name
                        + " cannot be read: error " + Errno.in(state));
            };
        }
    }

    /** @throws Unsupported if the file system has no extended attributes */
    @Override
    public void write(String name, String value) throws IOException {
        byte[] bytes = value.getBytes(StandardCharsets.US_ASCII);
        if (bytes.length > MAX_BYTES) {
            throw new IllegalArgumentException("label of " + bytes.length + " bytes");
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Errno.STATE);
            if (Calls.set(state, file.descriptor(), arena.allocateFrom(PREFIX + name),
                    arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes)) != 0) {
                int errno = Errno.in(state);
                throw errno == EOPNOTSUPP
                        ? new Unsupported()
                        : new IOException("attribute " + PREFIX + name
                                + " cannot be written: error " + errno);
            }
            if (Calls.sync(state, file.descriptor()) != 0) {
                throw new IOException("attribute " + PREFIX + name
                        + " cannot be made stable: error " + Errno.in(state));
            }
        }
    }

    /** Functions of libc, looked up once. */
    private static final class Calls {
        static final Optional<LibcCall> GET = LibcCall.find("fgetxattr");
        static final Optional<LibcCall> SET = LibcCall.find("fsetxattr");
        static final Optional<LibcCall> SYNC = LibcCall.find("fsync");
        static final boolean AVAILABLE = LinuxFile.isAvailable() && GET.isPresent()
                && SET.isPresent() && SYNC.isPresent();

        private Calls() {}

        static long get(MemorySegment state, int descriptor, MemorySegment name,
                MemorySegment into) {
            return GET.orElseThrow().call(state, descriptor, name.address(), into.address(),
                    into.byteSize(), 0);
        }

        static int set(MemorySegment state, int descriptor, MemorySegment name,
                MemorySegment value) {
            return (int) SET.orElseThrow().call(state, descriptor, name.address(),
                    value.address(), value.byteSize(), 0);
        }

        static int sync(MemorySegment state, int descriptor) {
            return (int) SYNC.orElseThrow().call(state, descriptor, 0, 0);
        }
    }
}
