package lunar.iser.memory;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Set;
import lunar.rdma.Access;
import lunar.rdma.MemoryRegion;
import lunar.rdma.ProtectionDomain;
import lunar.rdma.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * Registry of memory that many commands use, which is registered once and looked up by address. A pool is registered
 * for remote access only when this end, as an initiator, first uses it as the buffer of a command; the pools of a
 * target are never exposed. Thread-safe; a lookup takes no lock.
 */
public final class RegisteredPools implements AutoCloseable {
    /** A contiguous piece of registered memory. */
    public static final class Pool implements AutoCloseable {
        private final RegisteredPools owner;
        private final MemorySegment memory;
        private final MemoryRegion local;
        private volatile @Nullable MemoryRegion exposed;

        Pool(RegisteredPools owner, MemorySegment memory, MemoryRegion local) {
            this.owner = owner;
            this.memory = memory;
            this.local = local;
        }

        /** Returns the registration for operations of this end. */
        public MemoryRegion local() {
            return local;
        }

        /** Returns the registration for operations of the peer; registers the memory at the first call. */
        public MemoryRegion exposed() throws RdmaException {
            MemoryRegion known = exposed;
            if (known == null) {
                synchronized (this) {
                    known = exposed;
                    if (known == null) {
                        known = owner.domain.register(memory, Access.ALL);
                        exposed = known;
                    }
                }
            }
            return known;
        }

        /** Returns the offset of a part of the pool, in bytes. */
        public long offset(MemorySegment part) {
            return part.address() - memory.address();
        }

        private boolean has(MemorySegment part) {
            long offset = offset(part);
            return offset >= 0 && offset + part.byteSize() <= memory.byteSize();
        }

        /** Ends the registration; idempotent. */
        @Override
        public void close() { owner.close(this); }

        private void deregister() {
            local.close();
            MemoryRegion known = exposed;
            if (known != null) {
                known.close();
            }
        }
    }

    private static final Comparator<Pool> BY_ADDRESS = Comparator
            .comparingLong(pool -> pool.memory.address());

    private final ProtectionDomain domain;
    /** Sorted by address; the array is replaced on change. */
    private volatile Pool[] pools = new Pool[0];

    public RegisteredPools(ProtectionDomain domain) { this.domain = domain; }

    /**
     * Registers memory. The caller keeps it allocated until the pool is closed.
     *
     * @param access access rights of the {@linkplain Pool#local local} registration
     */
    public Pool add(MemorySegment memory, Set<Access> access) throws RdmaException {
        var pool = new Pool(this, memory, domain.register(memory, access));
        synchronized (this) {
            Pool[] all = Arrays.copyOf(pools, pools.length + 1);
            all[all.length - 1] = pool;
            Arrays.sort(all, BY_ADDRESS);
            pools = all;
        }
        return pool;
    }

    /** Returns the pool that contains a piece of memory; null if there is none. */
    public @Nullable Pool find(MemorySegment part) {
        if (!part.isNative()) {
            return null;
        }
        Pool[] all = pools;
        long address = part.address();
        int low = 0;
        int high = all.length - 1;
        while (low < high) { // the last pool that starts at or before the address
            int middle = (low + high + 1) >>> 1;
            if (all[middle].memory.address() <= address) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return all.length > 0 && all[low].has(part) ? all[low] : null;
    }

    private void close(Pool pool) {
        synchronized (this) {
            Pool[] left = Arrays.stream(pools).filter(each -> !each.equals(pool))
                    .toArray(Pool[]::new);
            if (left.length == pools.length) {
                return;
            }
            pools = left;
        }
        pool.deregister();
    }

    /** Ends all registrations. */
    @Override
    public void close() {
        for (Pool pool : pools) {
            pool.close();
        }
    }
}
