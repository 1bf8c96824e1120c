package lunar.rdma.posix;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;
import java.util.Optional;

/** Translates IP addresses from and to struct sockaddr_in and sockaddr_in6. */
public final class SocketAddresses {
    /** Room for an address of any family: size of struct sockaddr_storage. */
    public static final int MAX_BYTES = 128;

    private static final ValueLayout.OfShort PORT = JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);

    private SocketAddresses() {}

    /** Returns a struct for a resolved address. */
    public static MemorySegment write(InetSocketAddress address, Arena arena) {
        byte[] bytes = address.getAddress().getAddress();
        MemorySegment struct = arena.allocate(MAX_BYTES, Long.BYTES);
        struct.set(PORT, AddressLayouts.INET_PORT, (short) address.getPort());
        if (address.getAddress() instanceof Inet6Address six) {
            struct.set(JAVA_SHORT, AddressLayouts.INET_FAMILY, (short) AddressLayouts.AF_INET6);
            MemorySegment.copy(bytes, 0, struct, JAVA_BYTE, AddressLayouts.INET6_ADDR,
                    bytes.length);
            struct.set(JAVA_INT, AddressLayouts.INET6_SCOPE_ID, six.getScopeId());
        } else {
            struct.set(JAVA_SHORT, AddressLayouts.INET_FAMILY, (short) AddressLayouts.AF_INET);
            MemorySegment.copy(bytes, 0, struct, JAVA_BYTE, AddressLayouts.INET_ADDR, bytes.length);
        }
        return struct;
    }

    /**
     * Reads an address.
     *
     * @param struct struct of {@link #MAX_BYTES} bytes
     * @return empty if the family is neither AF_INET nor AF_INET6
     */
    public static Optional<InetSocketAddress> read(MemorySegment struct) {
        int port = Short.toUnsignedInt(struct.get(PORT, AddressLayouts.INET_PORT));
        try {
            return switch (struct.get(JAVA_SHORT, AddressLayouts.INET_FAMILY)) {
                case AddressLayouts.AF_INET -> Optional.of(new InetSocketAddress(
                        InetAddress.getByAddress(struct.asSlice(AddressLayouts.INET_ADDR, 4)
                                .toArray(JAVA_BYTE)),
                        port));
                case AddressLayouts.AF_INET6 -> Optional.of(new InetSocketAddress(
                        Inet6Address.getByAddress(null,
                                struct.asSlice(AddressLayouts.INET6_ADDR, 16).toArray(JAVA_BYTE),
                                struct.get(JAVA_INT, AddressLayouts.INET6_SCOPE_ID)),
                        port));
                default -> Optional.empty();
            };
        } catch (UnknownHostException e) {
            throw new AssertionError("length of an address", e);
        }
    }
}
