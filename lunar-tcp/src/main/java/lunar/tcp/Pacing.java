package lunar.tcp;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Disables pacing on connections within one machine. A congestion control with pacing, such as BBR, delays each segment
 * by a timer to protect network queues; on loopback there are none, and the timers, which cost microseconds each in a
 * virtual machine, halve the throughput. Such a connection gets {@code reno}, which every Linux has and permits every
 * user, instead of the system's default (tcp(7), TCP_CONGESTION).
 *
 * <p>A listener bound to a loopback address is changed once, for all connections that it accepts. Java does not expose
 * the descriptor of a socket, so it is found by its two addresses, which no other socket of the process has in this
 * order. Linux only, and only if native access is enabled for the module: if it is not, the log says so once. No effect
 * elsewhere. The system's default is read once per process, with the first connection or listener: a change of the
 * setting takes effect after a restart.
 */
public final class Pacing {
    private static final System.Logger LOG = System.getLogger("lunar.tcp");
    private static final Path CHOICE = Path.of("/proc/sys/net/ipv4/tcp_congestion_control");
    private static final String PACING = "bbr";
    private static final String WITHOUT = "reno";

    private static final int IPPROTO_TCP = 6;
    private static final int TCP_CONGESTION = 13;
    private static final short AF_INET = 2;
    private static final short AF_INET6 = 10;
    private static final int ADDRESS_BYTES = 128; // struct sockaddr_storage
    private static final int PORT_AT = 2;
    private static final int ADDRESS_AT = 4;
    private static final int ADDRESS_6_AT = 8;
    private static final int ADDRESS_LENGTH = 4;
    private static final int ADDRESS_6_LENGTH = 16;

    /** No process is asked for more sockets than this. */
    private static final int MAX_DESCRIPTOR = 1 << 16;
    /** Descriptors that are looked at above the highest that was found. */
    private static final int AHEAD = 64;

    private static final ValueLayout.OfShort PORT = ValueLayout.JAVA_SHORT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);

    /**
     * The calls, where they are there. All are linked with one signature, of five longs, as the JVM takes milliseconds
     * to link each: the ABIs of Linux with 64 bits pass an int, sign-extended, and an address as they pass a long, and
     * a function ignores arguments beyond its parameters.
     */
    private record Calls(MethodHandle getsockname, MethodHandle getpeername,
            MethodHandle setsockopt) {
        @SuppressWarnings("restricted")
        private static Optional<Calls> find() {
            if (!System.getProperty("os.name", "").equals("Linux")
                    || ValueLayout.ADDRESS.byteSize() != Long.BYTES) {
                return Optional.empty();
            }
            Module module = Pacing.class.getModule();
            if (!module.isNativeAccessEnabled()) {
                LOG.log(System.Logger.Level.INFO, "connections within this machine are paced (BBR),"
                        + " which slows them down: start Java with --enable-native-access={0}",
                        module.isNamed() ? module.getName() : "ALL-UNNAMED");
                return Optional.empty();
            }
            var linker = Linker.nativeLinker();
            SymbolLookup symbols = linker.defaultLookup();
            var word = ValueLayout.JAVA_LONG;
            var type = FunctionDescriptor.of(word, word, word, word, word, word);
            return Optional.of(new Calls(
                    linker.downcallHandle(symbols.findOrThrow("getsockname"), type),
                    linker.downcallHandle(symbols.findOrThrow("getpeername"), type),
                    linker.downcallHandle(symbols.findOrThrow("setsockopt"), type)));
        }

        /** Calls a function with memory that the caller keeps open. */
        static int call(MethodHandle function, long descriptor, long second, long third,
                long fourth, long fifth) {
            try {
                return (int) (long) function.invokeExact(descriptor, second, third, fourth,
                        fifth);
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Made when the first connection needs it. */
    private static final class Native {
        static final Optional<Calls> CALLS = Calls.find();
    }

    /** The system's default, read once, when the process creates its first connection or listener. */
    private static final class SystemChoice {
        static final boolean IS_PACED = isPaced();

        private static boolean isPaced() {
            try {
                return Files.exists(CHOICE) && Files.readString(CHOICE).startsWith(PACING);
            } catch (IOException e) {
                LOG.log(System.Logger.Level.DEBUG, "pacing: {0}", e.toString());
                return false;
            }
        }
    }

    /** Where new sockets were found: their numbers mostly follow each other. */
    private static int latest;
    private static int highest;

    private Pacing() {}

    /** Disables pacing of a connected socket if its peer is on this machine; otherwise no effect. */
    public static void off(SocketChannel channel) {
        try {
            if (SystemChoice.IS_PACED && isWithinMachine(channel)) {
                OptionalInt found = descriptor(channel);
                if (found.isPresent()) {
                    off(found.getAsInt());
                }
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "pacing: {0}", e.toString());
        }
    }

    /**
     * Disables pacing of all connections that a bound listener will accept, if only peers on this machine can reach it:
     * on Linux a connection inherits the setting of its listener.
     *
     * @return whether {@link #off(SocketChannel)} is unnecessary for them
     */
    public static boolean off(ServerSocketChannel listener) {
        try {
            if (!SystemChoice.IS_PACED) {
                return true;
            }
            if (listener.getLocalAddress() instanceof InetSocketAddress local
                    && local.getAddress().isLoopbackAddress()) {
                OptionalInt found = descriptor(local, null);
                if (found.isPresent()) {
                    return off(found.getAsInt());
                }
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "pacing: {0}", e.toString());
        }
        return false;
    }

    private static boolean isWithinMachine(SocketChannel channel) throws IOException {
        return channel.getLocalAddress() instanceof InetSocketAddress local
                && channel.getRemoteAddress() instanceof InetSocketAddress remote
                && (remote.getAddress().isLoopbackAddress()
                        || remote.getAddress().equals(local.getAddress()));
    }

    static boolean off(int descriptor) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocateFrom(WITHOUT, StandardCharsets.US_ASCII);
            int result = Calls.call(Native.CALLS.orElseThrow().setsockopt, descriptor, IPPROTO_TCP,
                    TCP_CONGESTION, name.address(), WITHOUT.length());
            LOG.log(System.Logger.Level.DEBUG, "pacing off: {0}", result == 0);
            return result == 0;
        }
    }

    /** The number of a connected socket; empty if the calls are not available. */
    static OptionalInt descriptor(SocketChannel channel) throws IOException {
        return descriptor(channel.getLocalAddress(), channel.getRemoteAddress());
    }

    /** The number of a socket that is bound to an address and has this peer, or none. */
    static synchronized OptionalInt descriptor(SocketAddress local, @Nullable SocketAddress remote)
            throws IOException {
        if (Native.CALLS.isEmpty()) {
            return OptionalInt.empty();
        }
        Calls calls = Native.CALLS.get();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment address = arena.allocate(ADDRESS_BYTES, Long.BYTES);
            MemorySegment length = arena.allocate(ValueLayout.JAVA_INT);
            int top = Math.min(MAX_DESCRIPTOR, highest + AHEAD);
            for (int i = 0; i < MAX_DESCRIPTOR; i++) {
                // First those up to the highest known, round from the latest; then all above.
                int candidate = i < top ? (latest + 1 + i) % top : i;
                if (local.equals(address(calls.getsockname, candidate, address, length))
                        && Objects.equals(remote,
                                address(calls.getpeername, candidate, address, length))) {
                    latest = candidate;
                    highest = Math.max(highest, candidate);
                    return OptionalInt.of(candidate);
                }
            }
            return OptionalInt.empty();
        }
    }

    /** Returns the address from one of the two calls; null if this is no Internet socket, or none at all. */
    private static @Nullable InetSocketAddress address(MethodHandle call, int descriptor,
            MemorySegment address, MemorySegment length) throws IOException {
        length.set(ValueLayout.JAVA_INT, 0, ADDRESS_BYTES);
        if (Calls.call(call, descriptor, address.address(), length.address(), 0, 0) != 0) {
            return null;
        }
        int at;
        int bytes;
        switch (address.get(ValueLayout.JAVA_SHORT, 0)) {
            case AF_INET -> {
                at = ADDRESS_AT;
                bytes = ADDRESS_LENGTH;
            }
            case AF_INET6 -> {
                at = ADDRESS_6_AT;
                bytes = ADDRESS_6_LENGTH;
            }
            default -> {
                return null;
            }
        }
        // An IPv4-mapped IPv6 address is converted to IPv4.
        return new InetSocketAddress(
                InetAddress.getByAddress(
                        address.asSlice(at, bytes).toArray(ValueLayout.JAVA_BYTE)),
                Short.toUnsignedInt(address.get(PORT, PORT_AT)));
    }
}
