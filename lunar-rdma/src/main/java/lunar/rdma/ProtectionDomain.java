package lunar.rdma;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import lunar.rdma.spi.ProviderDomain;

/**
 * A device that is open, and a protection domain on it: endpoints access only memory that is registered with their
 * domain. Opened by {@link RdmaDevice#open}. May be used by any thread.
 */
public final class ProtectionDomain implements AutoCloseable {
    private final ProviderDomain provider;
    private final DeviceInfo device;
    private final DomainId id = new DomainId();

    /** Guarded by this. */
    private MemoryUse use = MemoryUse.NONE;
    private boolean isClosed;

    ProtectionDomain(ProviderDomain provider, DeviceInfo device) {
        this.provider = provider;
        this.device = device;
    }

    public DeviceInfo device() { return device; }

    /** Returns the resources that are open. */
    public synchronized MemoryUse use() { return use; }

    /**
     * Registers native memory. Its arena must stay open until the region is closed; memory of {@link #createPool} has
     * no such condition.
     *
     * @throws RegistrationException if the device, or a limit of the system, refuses it
     * @throws IllegalArgumentException if the segment is not native, or read-only, or empty
     */
    public MemoryRegion register(MemorySegment memory, Set<Access> access) throws RdmaException {
        if (!memory.isNative() || memory.byteSize() == 0
                || (memory.isReadOnly() && !access.isEmpty())) {
            throw new IllegalArgumentException("cannot register " + memory + " for " + access);
        }
        if (access.contains(Access.REMOTE_WRITE) && !access.contains(Access.LOCAL_WRITE)) {
            throw new IllegalArgumentException(
                    Access.REMOTE_WRITE + " needs " + Access.LOCAL_WRITE);
        }
        long bytes = memory.byteSize();
        change(1, bytes, 0, 0);
        boolean registered = false;
        try {
            var region = new MemoryRegion(id, memory, access,
                    provider.register(memory, access), () -> change(-1, -bytes, 0, 0));
            registered = true;
            return region;
        } finally {
            if (!registered) {
                change(-1, -bytes, 0, 0);
            }
        }
    }

    /**
     * Allocates and registers a block of memory that is divided into slices.
     *
     * @param count number of slices
     * @param sliceBytes length of each; slices start at multiples of 64 bytes, or of 4096 if they are as long
     */
    public MemoryPool createPool(int count, long sliceBytes, Set<Access> access)
            throws RdmaException {
        return new MemoryPool(count, sliceBytes, memory -> register(memory, access));
    }

    public EventChannel openChannel() throws RdmaException {
        change(0, 0, 1, 0);
        boolean opened = false;
        try {
            var channel = new EventChannel(provider.openChannel(), id, device,
                    () -> change(0, 0, -1, 0));
            opened = true;
            return channel;
        } finally {
            if (!opened) {
                change(0, 0, -1, 0);
            }
        }
    }

    /**
     * Makes a receive queue that endpoints can share.
     *
     * @param depth most receives that are posted at a time
     * @param segments most pieces of memory of a receive
     * @throws UnsupportedOperationException without {@link Capability#SHARED_RECEIVE_QUEUE}
     */
    public SharedReceiveQueue createSharedReceiveQueue(int depth, int segments)
            throws RdmaException {
        if (!device.capabilities().contains(Capability.SHARED_RECEIVE_QUEUE)) {
            throw new UnsupportedOperationException(device.name()
                    + " has no shared receive queues");
        }
        if (depth < 1 || depth > device.limits().maxReceiveDepth() || segments < 1
                || segments > device.limits().maxSegments()) {
            throw new IllegalArgumentException("depth " + depth + ", " + segments + " segments");
        }
        change(0, 0, 0, 1);
        boolean made = false;
        try {
            var queue = new SharedReceiveQueue(provider.createReceiveQueue(depth, segments), depth,
                    segments, () -> change(0, 0, 0, -1));
            made = true;
            return queue;
        } finally {
            if (!made) {
                change(0, 0, 0, -1);
            }
        }
    }

    private synchronized void change(int regions, long bytes, int channels, int sharedQueues) {
        if (isClosed) {
            throw new IllegalStateException("protection domain is closed");
        }
        use = new MemoryUse(use.regions() + regions, use.bytes() + bytes,
                use.channels() + channels, use.sharedQueues() + sharedQueues);
    }

    /**
     * Closes the device. Idempotent.
     *
     * @throws MemoryInUseException if something is open; the domain remains open
     */
    @Override
    public void close() {
        synchronized (this) {
            if (isClosed) {
                return;
            }
            if (!use.equals(MemoryUse.NONE)) {
                throw new MemoryInUseException(device.name() + " is not closed: " + use);
            }
            isClosed = true;
        }
        provider.close();
    }
}
