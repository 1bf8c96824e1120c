package lunar.store;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
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
        return Calls.LOOKUP.isPresent() ? Optional.of(new FileLabels(file)) : Optional.empty();
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
        Calls calls = Calls.LOOKUP.orElseThrow();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Errno.STATE);
            MemorySegment room = arena.allocate(MAX_BYTES);
            long length = calls.get(state, file.descriptor(), arena.allocateFrom(PREFIX + name),
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
        Calls calls = Calls.LOOKUP.orElseThrow();
        byte[] bytes = value.getBytes(StandardCharsets.US_ASCII);
        if (bytes.length > MAX_BYTES) {
            throw new IllegalArgumentException("label of " + bytes.length + " bytes");
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Errno.STATE);
            if (calls.set(state, file.descriptor(), arena.allocateFrom(PREFIX + name),
                    arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes)) != 0) {
                int errno = Errno.in(state);
                throw errno == EOPNOTSUPP
                        ? new Unsupported()
                        : new IOException("attribute " + PREFIX + name
                                + " cannot be written: error " + errno);
            }
            if (calls.sync(state, file.descriptor()) != 0) {
                throw new IOException("attribute " + PREFIX + name
                        + " cannot be made stable: error " + Errno.in(state));
            }
        }
    }

    /** Handles of the functions, looked up once. */
    private record Calls(MethodHandle getHandle, MethodHandle setHandle, MethodHandle syncHandle) {
        static final Optional<Calls> LOOKUP = LinuxFile.isAvailable() ? lookup() : Optional.empty();

        @SuppressWarnings("restricted")
        private static Optional<Calls> lookup() {
            Linker linker = Linker.nativeLinker();
            SymbolLookup symbols = linker.defaultLookup();
            var get = symbols.find("fgetxattr");
            var set = symbols.find("fsetxattr");
            var sync = symbols.find("fsync");
            if (get.isEmpty() || set.isEmpty() || sync.isEmpty()) {
                return Optional.empty();
            }
            Linker.Option errno = Linker.Option.captureCallState("errno");
            return Optional.of(new Calls(
                    linker.downcallHandle(get.get(),
                            FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT,
                                    ValueLayout.ADDRESS, ValueLayout.ADDRESS,
                                    ValueLayout.JAVA_LONG),
                            errno),
                    linker.downcallHandle(set.get(),
                            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT,
                                    ValueLayout.ADDRESS, ValueLayout.ADDRESS,
                                    ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT),
                            errno),
                    linker.downcallHandle(sync.get(),
                            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT),
                            errno)));
        }

        long get(MemorySegment state, int descriptor, MemorySegment name, MemorySegment into) {
            try {
                return (long) getHandle.invokeExact(state, descriptor, name, into,
                        into.byteSize());
            } catch (Throwable e) {
                throw new AssertionError("fgetxattr(2)", e);
            }
        }

        int set(MemorySegment state, int descriptor, MemorySegment name, MemorySegment value) {
            try {
                return (int) setHandle.invokeExact(state, descriptor, name, value,
                        value.byteSize(), 0);
            } catch (Throwable e) {
                throw new AssertionError("fsetxattr(2)", e);
            }
        }

        int sync(MemorySegment state, int descriptor) {
            try {
                return (int) syncHandle.invokeExact(state, descriptor);
            } catch (Throwable e) {
                throw new AssertionError("fsync(2)", e);
            }
        }
    }
}
