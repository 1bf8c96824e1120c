package lunar.cli.systemd;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;

/** The end of the protocol that systemd has: a Unix datagram socket that receives what a service reports. */
public final class NotifyReceiver implements AutoCloseable {
    private static final int AF_UNIX = 1;
    private static final int SOCK_DGRAM = 2;
    private static final int SOL_SOCKET = 1;
    private static final int SO_RCVTIMEO = 20;
    private static final int TIMEOUT_SECONDS = 120;
    private static final int MAX_BYTES = 4096;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment buffer = arena.allocate(MAX_BYTES);
    private final int socket;

    /** @param address a path, or {@code @} and an abstract name */
    public NotifyReceiver(String address) throws Throwable {
        socket = (int) function("socket", FunctionDescriptor.of(ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT))
                .invokeExact(AF_UNIX, SOCK_DGRAM, 0);
        byte[] path = address.getBytes(StandardCharsets.UTF_8);
        if (path[0] == '@') {
            path[0] = 0;
        }
        MemorySegment name = arena.allocate(2 + path.length + 1L, 2);
        name.set(ValueLayout.JAVA_SHORT, 0, (short) AF_UNIX);
        MemorySegment.copy(path, 0, name, ValueLayout.JAVA_BYTE, 2, path.length);
        int bound = (int) function("bind", FunctionDescriptor.of(ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT))
                .invokeExact(socket, name, 2 + path.length);
        assertThat(bound).isZero();
        MemorySegment timeout = arena.allocateFrom(ValueLayout.JAVA_LONG, TIMEOUT_SECONDS, 0);
        int set = (int) function("setsockopt", FunctionDescriptor.of(ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT,
                ValueLayout.ADDRESS, ValueLayout.JAVA_INT))
                .invokeExact(socket, SOL_SOCKET, SO_RCVTIMEO, timeout, 16);
        assertThat(set).isZero();
    }

    /** Returns the next message, within {@value #TIMEOUT_SECONDS} s. */
    public String next() throws Throwable {
        long bytes = (long) function("recv", FunctionDescriptor.of(ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_INT)).invokeExact(socket, buffer, (long) MAX_BYTES, 0);
        assertThat(bytes).as("bytes of a message").isPositive();
        return new String(buffer.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE),
                StandardCharsets.UTF_8);
    }

    /** Returns the next message that is not of the watchdog. */
    public String nextChange() throws Throwable {
        String message = next();
        while (message.equals("WATCHDOG=1")) {
            message = next();
        }
        return message;
    }

    @Override
    public void close() {
        try {
            int _ = (int) function("close",
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT))
                    .invokeExact(socket);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
        arena.close();
    }

    private static MethodHandle function(String name, FunctionDescriptor type) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type);
    }
}
