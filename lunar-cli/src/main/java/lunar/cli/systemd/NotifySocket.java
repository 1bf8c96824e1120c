package lunar.cli.systemd;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;

/**
 * Sends datagrams to a Unix socket (unix(7)). Java's channels have Unix sockets for streams only, so this uses libc.
 * Each message has a socket of its own: there are few.
 */
final class NotifySocket {
    private static final int AF_UNIX = 1;
    private static final int SOCK_DGRAM_CLOEXEC = 2 | 0x80000;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int SOL_SOCKET = 1;
    private static final int SO_SNDTIMEO = 21;
    /** A service manager that does not receive must not delay the flush at the end. */
    private static final long PATIENCE_SECONDS = 1;
    /** Bytes of {@code sun_path} that a name may have: a path needs the last one for its terminator. */
    private static final int MAX_PATH_BYTES = 107;
    private static final int PATH_AT = 2;

    private static final VarHandle ERRNO = Linker.Option.captureStateLayout()
            .varHandle(MemoryLayout.PathElement.groupElement("errno"));

    private final byte[] path;

    /**
     * @param address an absolute path, or {@code @} and a name in the abstract namespace
     * @throws IOException if it is neither, or too long
     */
    NotifySocket(String address) throws IOException {
        path = address.getBytes(StandardCharsets.UTF_8);
        boolean isAddress = address.startsWith("/") || address.startsWith("@");
        if (!isAddress || path.length < 2 || path.length > MAX_PATH_BYTES) {
            throw new IOException("'" + address + "' is not the address of a Unix socket");
        }
        if (address.startsWith("@")) {
            path[0] = 0;
        }
    }

    /** Sends a message as one datagram; fails if the receiver's queue stays full for a second. */
    void send(String message) throws IOException {
        if (!NotifySocket.class.getModule().isNativeAccessEnabled()) {
            throw new IOException("native access is not enabled for lunar.cli:"
                    + " start Java with --enable-native-access=lunar.cli");
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Linker.Option.captureStateLayout());
            byte[] bytes = message.getBytes(StandardCharsets.UTF_8);
            MemorySegment data = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
            MemorySegment address = arena.allocate(PATH_AT + path.length + 1L, Short.BYTES);
            address.set(ValueLayout.JAVA_SHORT, 0, (short) AF_UNIX);
            MemorySegment.copy(path, 0, address, ValueLayout.JAVA_BYTE, PATH_AT, path.length);
            int socket = checked("socket", state, Native.socket(state));
            try {
                MemorySegment limit = arena.allocateFrom(ValueLayout.JAVA_LONG, PATIENCE_SECONDS,
                        0); // struct timeval
                checked("setsockopt", state, Native.limitSends(state, socket, limit));
                checked("sendto", state, Native.sendto(state, socket, data, bytes.length, address,
                        PATH_AT + path.length));
            } finally {
                Native.close(state, socket);
            }
        }
    }

    private static int checked(String call, MemorySegment state, long result) throws IOException {
        if (result < 0) {
            throw new IOException(call + "(2) failed with error " + (int) ERRNO.get(state, 0L));
        }
        return (int) result;
    }

    /** The functions of libc, linked when the first message is sent. */
    @SuppressWarnings("restricted")
    private static final class Native {
        private static final MethodHandle SOCKET = function("socket",
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        private static final MethodHandle SENDTO = function("sendto",
                FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT,
                        ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT,
                        ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
        private static final MethodHandle SETSOCKOPT = function("setsockopt",
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS,
                        ValueLayout.JAVA_INT));
        private static final MethodHandle CLOSE = function("close",
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

        private static MethodHandle function(String name, FunctionDescriptor type) {
            Linker linker = Linker.nativeLinker();
            SymbolLookup symbols = linker.defaultLookup();
            return linker.downcallHandle(symbols.findOrThrow(name), type,
                    Linker.Option.captureCallState("errno"));
        }

        static long socket(MemorySegment state) {
            try {
                return (int) SOCKET.invokeExact(state, AF_UNIX, SOCK_DGRAM_CLOEXEC, 0);
            } catch (Throwable e) {
                throw new AssertionError("socket(2)", e);
            }
        }

        static long sendto(MemorySegment state, int socket, MemorySegment data, long length,
                MemorySegment address, int addressLength) {
            try {
                return (long) SENDTO.invokeExact(state, socket, data, length, MSG_NOSIGNAL,
                        address, addressLength);
            } catch (Throwable e) {
                throw new AssertionError("sendto(2)", e);
            }
        }

        static long limitSends(MemorySegment state, int socket, MemorySegment limit) {
            try {
                return (int) SETSOCKOPT.invokeExact(state, socket, SOL_SOCKET, SO_SNDTIMEO, limit,
                        (int) limit.byteSize());
            } catch (Throwable e) {
                throw new AssertionError("setsockopt(2)", e);
            }
        }

        static void close(MemorySegment state, int socket) {
            try {
                int _ = (int) CLOSE.invokeExact(state, socket);
            } catch (Throwable e) {
                throw new AssertionError("close(2)", e);
            }
        }
    }
}
