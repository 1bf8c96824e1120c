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
 * Memory that many commands use, registered once, and found by the address of a part of it. Peers get access to a pool
 * only when it is first used as the buffer of a command of this end, as an initiator: that of a target is never
 * exposed. Thread-safe; finding a pool takes no lock.
 */
public final class RegisteredPools implements AutoCloseable {
    /** A registered piece of memory. */
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

        /** For operations of this end. */
        public MemoryRegion local() { return local; }

        /** For operations of the peer. */
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

        /** Where a part of the pool begins in it. */
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
    /** By address; replaced when it changes. */
    private volatile Pool[] pools = new Pool[0];

    public RegisteredPools(ProtectionDomain domain) { this.domain = domain; }

    /** Registers memory. */
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

    /** Returns the pool that a piece of memory is part of; null for none. */
    public @Nullable Pool find(MemorySegment part) {
        if (!part.isNative()) {
            return null;
        }
        Pool[] all = pools;
        long address = part.address();
        int low = 0;
        int high = all.length - 1;
        while (low < high) { // the last that does not begin behind the address
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
