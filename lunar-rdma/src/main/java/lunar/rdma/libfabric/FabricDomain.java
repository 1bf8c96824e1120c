package lunar.rdma.libfabric;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import lunar.rdma.Access;
import lunar.rdma.DeviceLimits;
import lunar.rdma.ProviderException;
import lunar.rdma.RdmaException;
import lunar.rdma.RegistrationException;
import lunar.rdma.posix.ProcessMemory;
import lunar.rdma.spi.ProviderChannel;
import lunar.rdma.spi.ProviderDomain;
import lunar.rdma.spi.ProviderReceiveQueue;
import lunar.rdma.spi.ProviderRegion;

/**
 * A fabric with a domain, which is the protection domain. Remote keys are random 32-bit numbers, so that peers cannot
 * guess them.
 */
final class FabricDomain implements ProviderDomain {
    /** Opens a channel of the kind that fits the endpoints. */
    @FunctionalInterface
    interface ChannelFactory {
        ProviderChannel open(FabricDomain domain) throws RdmaException;
    }

    private static final long LOCAL_ACCESS = Numbers.FI_TRANSMIT | Numbers.FI_RECV
            | Numbers.FI_READ | Numbers.FI_WRITE;
    private static final int KEY_TRIES = 16;
    /** Memory for a {@link ProcessMemory}. */
    static final long COPIER_BYTES = ProcessMemory.bytes(DeviceLimits.MAX_SEGMENTS);

    private final FabricInfo info;
    private final ChannelFactory channels;
    private final SecureRandom random = new SecureRandom();
    private final long fabric;
    private final long domain;
    private final MemorySegment register;
    private final boolean isVirtual;

    /** Number of users of the native objects: the opener of the domain, and endpoints that outlive its close. */
    private final AtomicInteger users = new AtomicInteger(1);

    /** Memory of {@link #takeScratch}; the blocks of closed endpoints are reused. */
    private final Arena arena = Arena.ofShared();
    /** Guarded by itself. */
    private final ArrayDeque<MemorySegment> scratch = new ArrayDeque<>();

    /**
     * @param info owned by the domain from now on
     */
    FabricDomain(FabricInfo info, ChannelFactory channels) throws ProviderException {
        this.info = info;
        this.channels = channels;
        boolean opened = false;
        long openFabric = 0;
        try (Arena temporary = Arena.ofConfined()) {
            MemorySegment into = temporary.allocate(ValueLayout.JAVA_LONG);
            Fid.check("fi_fabric",
                    Library.loaded().fabric(info.struct("fabric_attr"), into));
            openFabric = into.get(ValueLayout.JAVA_LONG, 0);
            fabric = openFabric;
            domain = open("fi_domain", Fid.function(fabric, Layouts.FABRIC, "ops",
                    Layouts.OPS_FABRIC, "domain"), fabric, info.address());
            opened = true;
        } finally {
            if (!opened) {
                if (openFabric != 0) {
                    Fid.close(openFabric);
                }
                info.close();
                arena.close();
            }
        }
        register = Fid.function(domain, Layouts.DOMAIN, "mr", Layouts.OPS_MR, "reg");
        isVirtual = (info.number("domain_attr", Layouts.DOMAIN_ATTR, "mr_mode")
                & Numbers.FI_MR_VIRT_ADDR) != 0;
    }

    long fabric() { return fabric; }

    long domain() { return domain; }

    FabricInfo info() { return info; }

    /** Calls a function that opens an object of another with attributes. */
    static long open(String what, MemorySegment function, long parent, long attributes)
            throws ProviderException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment into = arena.allocate(ValueLayout.JAVA_LONG);
            Fid.check(what, Calls.int4(function, parent, attributes, into.address(), 0));
            return into.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    /** Opens an object of the domain, such as an endpoint. */
    long open(String what, String function, long attributes) throws ProviderException {
        return open(what, Fid.function(domain, Layouts.DOMAIN, "ops", Layouts.OPS_DOMAIN,
                function), domain, attributes);
    }

    @Override
    public ProviderRegion register(MemorySegment memory, Set<Access> access)
            throws RdmaException {
        return register(memory, access, random::nextInt);
    }

    /**
     * Registers memory.
     *
     * @param keys supplies keys to try until one is free
     */
    FabricRegion register(MemorySegment memory, Set<Access> access, IntSupplier keys)
            throws RegistrationException {
        long rights = LOCAL_ACCESS
                | (access.contains(Access.REMOTE_READ) ? Numbers.FI_REMOTE_READ : 0)
                | (access.contains(Access.REMOTE_WRITE) ? Numbers.FI_REMOTE_WRITE : 0);
        try (Arena temporary = Arena.ofConfined()) {
            MemorySegment into = temporary.allocate(ValueLayout.JAVA_LONG);
            int result = 0;
            for (int i = 0; i < KEY_TRIES; i++) {
                int key = keys.getAsInt();
                result = Calls.register(register, domain, memory.address(), memory.byteSize(),
                        rights, 0, Integer.toUnsignedLong(key), 0, into.address(), 0);
                if (result == 0) {
                    return new FabricRegion(into.get(ValueLayout.JAVA_LONG, 0), key,
                            isVirtual ? memory.address() : 0);
                }
                if (result != -Numbers.FI_ENOKEY) {
                    break; // otherwise the key was in use
                }
            }
            throw new RegistrationException(memory.byteSize() + " bytes cannot be registered: "
                    + Library.loaded().error(-result));
        }
    }

    @Override
    public ProviderChannel openChannel() throws RdmaException { return channels.open(this); }

    @Override
    public ProviderReceiveQueue createReceiveQueue(int depth, int segments) {
        throw new UnsupportedOperationException("shared receive queue");
    }

    /**
     * Memory of one endpoint, for two {@link Scratch}es and {@link #COPIER_BYTES} behind them. Given back by
     * {@link #giveScratch}.
     */
    MemorySegment takeScratch() {
        synchronized (scratch) {
            MemorySegment free = scratch.poll();
            return free == null
                    ? arena.allocate(2 * Scratch.BYTES + COPIER_BYTES, Scratch.ALIGNMENT)
                    : free;
        }
    }

    void giveScratch(MemorySegment block) {
        synchronized (scratch) {
            scratch.push(block);
        }
    }

    /** Keeps the native objects until {@link #release}, beyond the close. */
    void retain() {
        users.incrementAndGet();
    }

    void release() {
        if (users.decrementAndGet() == 0) {
            free();
        }
    }

    @Override
    public void close() { release(); }

    private void free() {
        Fid.closeFreely(domain, "domain");
        Fid.closeFreely(fabric, "fabric");
        info.close();
        arena.close();
    }
}
