package lunar.rdma.libfabric;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;
import java.util.Optional;

/** Decodes {@code struct sockaddr} of the Internet families (Linux). */
final class SocketAddresses {
    /** Room for an address of any family. */
    static final int MAX_BYTES = 128;

    private static final short AF_INET = 2;
    private static final short AF_INET6 = 10;
    private static final int PORT = 2;
    private static final int IN_ADDRESS = 4;
    private static final int IN6_ADDRESS = 8;
    private static final ValueLayout.OfShort BIG_ENDIAN = ValueLayout.JAVA_SHORT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);

    private SocketAddresses() {}

    /** The address; empty for a null pointer or another family. */
    static Optional<InetSocketAddress> decode(long address) {
        if (address == 0) {
            return Optional.empty();
        }
        MemorySegment bytes = Memory.at(address, MAX_BYTES);
        return switch (bytes.get(ValueLayout.JAVA_SHORT, 0)) {
            case AF_INET -> Optional.of(decode(bytes, IN_ADDRESS, 4));
            case AF_INET6 -> Optional.of(decode(bytes, IN6_ADDRESS, 16));
            default -> Optional.empty();
        };
    }

    private static InetSocketAddress decode(MemorySegment bytes, int at, int length) {
        try {
            return new InetSocketAddress(
                    InetAddress.getByAddress(
                            bytes.asSlice(at, length).toArray(ValueLayout.JAVA_BYTE)),
                    Short.toUnsignedInt(bytes.get(BIG_ENDIAN, PORT)));
        } catch (UnknownHostException e) {
            throw new AssertionError(e); // only for a wrong length
        }
    }
}
