package lunar.rdma.posix;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

class SocketAddressesTest {
    private final Arena arena = Arena.ofAuto();

    @Test
    void shouldWriteNetworkByteOrder() throws Exception {
        MemorySegment struct = SocketAddresses.write(
                new InetSocketAddress(InetAddress.getByName("10.8.0.1"), 3260), arena);
        assertThat(struct.asSlice(2, 6).toArray(JAVA_BYTE)).containsExactly(0x0c, (byte) 0xbc, 10,
                8, 0, 1);
    }

    @Test
    void shouldReadBackWrittenAddresses() throws Exception {
        for (String host : new String[]{"10.8.0.1", "0.0.0.0", "2001:db8::1", "::"}) {
            var address = new InetSocketAddress(InetAddress.getByName(host), 65535);
            assertThat(SocketAddresses.read(SocketAddresses.write(address, arena)))
                    .contains(address);
        }
    }

    @Test
    void shouldKeepScopeOfLinkLocalAddress() throws Exception {
        byte[] bytes = InetAddress.getByName("fe80::1").getAddress();
        var address = new InetSocketAddress(Inet6Address.getByAddress(null, bytes, 5), 1);
        InetSocketAddress read = SocketAddresses.read(SocketAddresses.write(address, arena))
                .orElseThrow();
        assertThat(((Inet6Address) read.getAddress()).getScopeId()).isEqualTo(5);
    }

    @Test
    void shouldReadNoAddressFromZeros() {
        assertThat(SocketAddresses.read(arena.allocate(SocketAddresses.MAX_BYTES, 8)))
                .isEmpty();
    }
}
