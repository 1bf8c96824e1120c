package lunar.rdma;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Memory that a device may access: a {@linkplain MemoryRegion region} or a {@linkplain MemorySlice slice} of a pool.
 * Counts the posted operations that use it, so that it is neither freed nor deregistered nor handed out again before
 * the device is done with it.
 *
 * <p>May be used by any thread; the bytes themselves belong to the device while an operation is posted.
 */
public abstract sealed class RegisteredMemory permits MemoryRegion, MemorySlice {
    /** Added to the count as the memory ends, so that no operation can be posted any more. */
    private static final int ENDED = Integer.MIN_VALUE;

    private static final VarHandle POSTED;

    static {
        try {
            POSTED = MethodHandles.lookup().findVarHandle(RegisteredMemory.class, "posted",
                    int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final DomainId domain;
    private final MemorySegment segment;
    private final boolean isWritable;
    private final long address;
    private final long byteSize;
    private final long localKey;
    private final int remoteKey;
    private final long remoteAddress;

    private volatile int posted;

    /**
     * @param domain identity of the protection domain
     * @param isWritable whether the device may write to it for local operations
     */
    RegisteredMemory(DomainId domain, MemorySegment segment, boolean isWritable, long localKey,
            int remoteKey, long remoteAddress) {
        this.domain = domain;
        this.segment = segment;
        this.isWritable = isWritable;
        address = segment.address();
        byteSize = segment.byteSize();
        this.localKey = localKey;
        this.remoteKey = remoteKey;
        this.remoteAddress = remoteAddress;
    }

    /** The bytes. */
    public final MemorySegment segment() { return segment; }

    final DomainId domain() { return domain; }

    final boolean isWritable() { return isWritable; }

    /** Native address of the first byte. */
    public final long address() { return address; }

    public final long byteSize() { return byteSize; }

    /** Key by which the device knows the memory in work requests; a value of the provider. */
    public final long localKey() {
        return localKey;
    }

    /** Returns the address and key by which a peer accesses this memory, if it is registered for that. Allocates. */
    public final RemoteMemory remote() {
        return new RemoteMemory(remoteAddress, remoteKey, byteSize);
    }

    /** Key that peers name, unsigned 32 bits. */
    public final int remoteKey() { return remoteKey; }

    /** Address of the first byte as peers name it. */
    public final long remoteAddress() {
        return remoteAddress;
    }

    /** How many posted operations use this memory. */
    public final int posted() {
        return posted & ~ENDED;
    }

    /** Counts an operation that is being posted; false if the memory has ended. */
    final boolean acquire() {
        int before;
        do {
            before = posted;
            if (before < 0) {
                return false;
            }
        } while (!POSTED.weakCompareAndSet(this, before, before + 1));
        return true;
    }

    /** An operation has completed. */
    final void release() {
        int before = (int) POSTED.getAndAdd(this, -1);
        assert (before & ~ENDED) > 0 : "completed more often than posted";
        if (before == (ENDED | 1)) {
            idle();
        }
    }

    /** Ends the memory unless operations use it; no operation can be posted afterwards. */
    final boolean endIfIdle() {
        return POSTED.compareAndSet(this, 0, ENDED);
    }

    /**
     * Ends the memory; operations that are posted go on. When the last one has completed, or at once if there is none,
     * {@link #idle} is called. Does nothing if the memory has ended.
     */
    final void end() {
        int before;
        do {
            before = posted;
            if (before < 0) {
                return;
            }
        } while (!POSTED.weakCompareAndSet(this, before, before | ENDED));
        if (before == 0) {
            idle();
        }
    }

    /** Whether it has ended, so that nothing can be posted with it. */
    final boolean hasEnded() {
        return posted < 0;
    }

    /** Makes the memory usable again; only after it has ended and while it is idle. */
    final void revive() {
        posted = 0;
    }

    /** Called once {@link #end}ed memory is not used any more: by the caller of that, or by the thread that polls. */
    abstract void idle();
}
