package lunar.rdma.libfabric;

import static lunar.rdma.posix.Structs.offset;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lunar.rdma.ProviderException;
import lunar.rdma.RdmaUnavailableException;
import lunar.rdma.posix.SocketAddresses;
import org.jspecify.annotations.Nullable;

/**
 * A {@code struct fi_info}, or a list of them: describes devices, and the objects to create on them. {@link #close}
 * frees the native memory.
 */
final class FabricInfo implements AutoCloseable {
    private static final long NEXT = offset(Layouts.INFO, "next");
    private static final long CAPS = offset(Layouts.INFO, "caps");
    private static final long FORMAT = offset(Layouts.INFO, "addr_format");
    private static final long SOURCE = offset(Layouts.INFO, "src_addr");
    private static final long DESTINATION = offset(Layouts.INFO, "dest_addr");
    private static final long HANDLE = offset(Layouts.INFO, "handle");

    /** Properties of endpoints and their memory by which a provider is selected. */
    record Kind(String provider, int endpointType, int memoryMode, int depth) {}

    private final long address;

    /**
     * @param address address of a struct that this object owns
     */
    FabricInfo(long address) { this.address = address; }

    /**
     * Queries infos (fi_getinfo(3)); empty if none matches.
     *
     * @param at local address to listen on or remote address to connect to; null for all local addresses
     */
    static Optional<FabricInfo> query(Kind kind, boolean isInet6, @Nullable InetSocketAddress at,
            boolean isLocal) throws ProviderException, RdmaUnavailableException {
        Library library = Library.get();
        long hints = library.dupinfo(0);
        if (hints == 0) {
            throw new ProviderException("fi_dupinfo: no memory", Numbers.ENOMEM);
        }
        var wanted = new FabricInfo(hints);
        try (Arena arena = Arena.ofConfined()) {
            wanted.fill(kind, isInet6, arena);
            MemorySegment into = arena.allocate(ValueLayout.JAVA_LONG);
            MemorySegment node = MemorySegment.NULL;
            MemorySegment service = MemorySegment.NULL;
            long flags = 0;
            if (at != null) {
                node = arena.allocateFrom(at.getAddress().getHostAddress());
                service = arena.allocateFrom(Integer.toString(at.getPort()));
                flags = Numbers.FI_NUMERICHOST | (isLocal ? Numbers.FI_SOURCE : 0);
            }
            int result = library.getinfo(node, service, flags, hints, into);
            wanted.word("fabric_attr", Layouts.FABRIC_ATTR, "prov_name", 0); // not for fi_freeinfo to free
            if (result == -Numbers.ENODATA || result == -Numbers.ENOENT) {
                return Optional.empty();
            }
            Fid.check("fi_getinfo of " + kind.provider(), result);
            return Optional.of(new FabricInfo(into.get(ValueLayout.JAVA_LONG, 0)));
        } finally {
            wanted.close();
        }
    }

    private void fill(Kind kind, boolean isInet6, Arena arena) {
        Memory.word(address + CAPS, Numbers.FI_MSG | Numbers.FI_RMA);
        if (kind.endpointType() == Numbers.FI_EP_MSG) {
            Memory.number(address + FORMAT,
                    isInet6 ? Numbers.FI_SOCKADDR_IN6 : Numbers.FI_SOCKADDR_IN);
        }
        word("fabric_attr", Layouts.FABRIC_ATTR, "prov_name",
                arena.allocateFrom(kind.provider()).address());
        number("ep_attr", Layouts.EP_ATTR, "type", kind.endpointType());
        number("domain_attr", Layouts.DOMAIN_ATTR, "threading", Numbers.FI_THREAD_SAFE);
        number("domain_attr", Layouts.DOMAIN_ATTR, "control_progress", Numbers.FI_PROGRESS_MANUAL);
        number("domain_attr", Layouts.DOMAIN_ATTR, "data_progress", Numbers.FI_PROGRESS_MANUAL);
        number("domain_attr", Layouts.DOMAIN_ATTR, "mr_mode", kind.memoryMode());
        word("tx_attr", Layouts.TX_ATTR, "size", kind.depth());
        word("rx_attr", Layouts.RX_ATTR, "size", kind.depth());
    }

    static boolean isInet6(InetSocketAddress address) {
        return address.getAddress() instanceof Inet6Address;
    }

    long address() { return address; }

    /** Returns all infos of the list, which remain owned by this object. */
    List<FabricInfo> list() {
        var all = new ArrayList<FabricInfo>();
        for (long at = address; at != 0; at = Memory.word(at + NEXT)) {
            all.add(new FabricInfo(at));
        }
        return all;
    }

    Optional<InetSocketAddress> source() { return decode(Memory.word(address + SOURCE)); }

    Optional<InetSocketAddress> destination() { return decode(Memory.word(address + DESTINATION)); }

    /** Decodes the socket address at a pointer; empty for a null pointer. */
    private static Optional<InetSocketAddress> decode(long struct) {
        return struct == 0
                ? Optional.empty()
                : SocketAddresses.read(Memory.at(struct, SocketAddresses.MAX_BYTES));
    }

    /** Returns the handle of the connection request that the info describes. */
    long handle() {
        return Memory.word(address + HANDLE);
    }

    /** Returns the address of a struct that the info points to. */
    long struct(String pointer) {
        return Memory.word(address + offset(Layouts.INFO, pointer));
    }

    long word(String pointer, StructLayout struct, String member) {
        return Memory.word(struct(pointer) + offset(struct, member));
    }

    int number(String pointer, StructLayout struct, String member) {
        return Memory.number(struct(pointer) + offset(struct, member));
    }

    void word(String pointer, StructLayout struct, String member, long value) {
        Memory.word(struct(pointer) + offset(struct, member), value);
    }

    void number(String pointer, StructLayout struct, String member, int value) {
        Memory.number(struct(pointer) + offset(struct, member), value);
    }

    @Override
    public void close() { Library.loaded().freeinfo(address); }
}
