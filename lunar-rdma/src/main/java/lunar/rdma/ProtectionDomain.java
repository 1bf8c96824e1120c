package lunar.rdma;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import lunar.rdma.spi.ProviderDomain;

/**
 * An open device with a protection domain: endpoints access only memory that is registered with their domain. Opened by
 * {@link RdmaDevice#open}; the opener closes it. Thread-safe.
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

    /** Returns the resources that are currently open. */
    public synchronized MemoryUse use() {
        return use;
    }

    /**
     * Registers native memory. The caller must keep its arena open until the region is closed; a pool from
     * {@link #createPool} manages its own memory.
     *
     * @throws RegistrationException if the device, or a system limit such as that of locked memory, does not permit it
     * @throws IllegalArgumentException if the segment is not native or is empty, if it is read-only and {@code access}
     *         is not empty, or if {@code access} has {@link Access#REMOTE_WRITE} without {@link Access#LOCAL_WRITE}
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
     * @param sliceBytes length of each slice; slices are aligned to 64 bytes, or to 4096 if they are at least that long
     */
    public MemoryPool createPool(int count, long sliceBytes, Set<Access> access)
            throws RdmaException {
        return new MemoryPool(count, sliceBytes, memory -> register(memory, access));
    }

    /** Opens an event channel, which the caller closes. */
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
     * Creates a receive queue that endpoints can share. The caller closes it.
     *
     * @param depth most receives that can be posted at a time
     * @param segments most memory segments of a receive
     * @throws UnsupportedOperationException if the device lacks {@link Capability#SHARED_RECEIVE_QUEUE}
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
     * @throws MemoryInUseException if memory, a channel or a shared receive queue is still open; the domain remains
     *         open
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
