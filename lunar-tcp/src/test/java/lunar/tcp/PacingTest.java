package lunar.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

class PacingTest {
    @Test
    @EnabledOnOs(OS.LINUX)
    void shouldFindTheDescriptorOfEachSocket() throws Exception {
        Set<Integer> found = new HashSet<>();
        try (var server = ServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                var first = SocketChannel.open(server.getLocalAddress());
                SocketChannel firstPeer = server.accept();
                var second = SocketChannel.open(server.getLocalAddress());
                SocketChannel secondPeer = server.accept()) {
            for (SocketChannel channel : new SocketChannel[]{second, first, secondPeer,
                    firstPeer}) {
                OptionalInt descriptor = Pacing.descriptor(channel);
                assertThat(descriptor).isPresent();
                assertThat(Files.readSymbolicLink(
                        Path.of("/proc/self/fd", String.valueOf(descriptor.getAsInt())))
                        .toString()).startsWith("socket:");
                found.add(descriptor.getAsInt());
            }
        }
        assertThat(found).hasSize(4);
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void shouldGiveTheConnectionsOfAListenerWhatWasSetForIt() throws Exception {
        try (var server = ServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            OptionalInt listener = Pacing.descriptor(server.getLocalAddress(), null);
            assertThat(listener).isPresent();
            assertThat(Pacing.off(listener.getAsInt())).isTrue();
            try (var client = SocketChannel.open(server.getLocalAddress());
                    SocketChannel accepted = server.accept()) {
                assertThat(congestionControl(accepted)).isEqualTo("reno");
                assertThat(Pacing.descriptor(client)).isPresent();
            }
        }
    }

    /** As the system tells it (tcp(7), TCP_CONGESTION). */
    private static String congestionControl(SocketChannel of) throws Exception {
        Linker linker = Linker.nativeLinker();
        MethodHandle getsockopt = linker.downcallHandle(
                linker.defaultLookup().findOrThrow("getsockopt"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS,
                        ValueLayout.ADDRESS));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(16);
            MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_INT, 16);
            int result = (int) getsockopt.invokeExact(Pacing.descriptor(of).orElseThrow(), 6, 13,
                    name, length);
            assertThat(result).isZero();
            return name.getString(0);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void shouldFindSocketsOfEitherFamily() throws Exception {
        for (InetAddress address : InetAddress.getAllByName("localhost")) {
            try (var server = ServerSocketChannel.open().bind(new InetSocketAddress(address, 0));
                    var client = SocketChannel.open(server.getLocalAddress());
                    SocketChannel _ = server.accept()) {
                assertThat(Pacing.descriptor(client)).isPresent();
            }
        }
    }
}
