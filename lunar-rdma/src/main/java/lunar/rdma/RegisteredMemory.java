package lunar.rdma;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Memory that a device may access: a {@linkplain MemoryRegion memory region} or a {@linkplain MemorySlice slice} of a
 * pool. It counts the posted operations that use it, so that it is not freed, deregistered or handed out again before
 * the device is done with it.
 *
 * <p>Thread-safe; the bytes themselves belong to the device while an operation that uses them is posted.
 */
public abstract sealed class RegisteredMemory permits MemoryRegion, MemorySlice {
    /** Set in the count when the memory is deregistered or given back: no further operation can be posted with it. */
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
     * @param isWritable whether the device may write to it for local operations ({@link Access#LOCAL_WRITE})
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

    /** The memory itself. */
    public final MemorySegment segment() { return segment; }

    final DomainId domain() { return domain; }

    final boolean isWritable() { return isWritable; }

    /** Native address of the first byte. */
    public final long address() { return address; }

    public final long byteSize() { return byteSize; }

    /** Local key (lkey) of the memory in work requests; its meaning depends on the provider. */
    public final long localKey() {
        return localKey;
    }

    /** Returns what a peer needs to access this memory, provided that it is registered for remote access. Allocates. */
    public final RemoteMemory remote() {
        return new RemoteMemory(remoteAddress, remoteKey, byteSize);
    }

    /** Remote key (rkey, STag) for peers, unsigned 32 bits. */
    public final int remoteKey() {
        return remoteKey;
    }

    /** Address of the first byte for peers. */
    public final long remoteAddress() {
        return remoteAddress;
    }

    /** Number of posted operations that use this memory. */
    public final int posted() {
        return posted & ~ENDED;
    }

    /** Counts an operation that is being posted; returns false if the memory has been deregistered or given back. */
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

    /** Counts down, since an operation has completed. */
    final void release() {
        int before = (int) POSTED.getAndAdd(this, -1);
        assert (before & ~ENDED) > 0 : "completed more often than posted";
        if (before == (ENDED | 1)) {
            idle();
        }
    }

    /** Ends the use of the memory, unless operations use it; no operation can be posted afterwards. */
    final boolean endIfIdle() {
        return POSTED.compareAndSet(this, 0, ENDED);
    }

    /**
     * Ends the use of the memory by new operations; operations that are posted go on. When the last one has completed,
     * or at once if there is none, {@link #idle} is called. Does nothing if the use has ended already.
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

    /** Whether the use of the memory has ended, so that nothing can be posted with it. */
    final boolean hasEnded() {
        return posted < 0;
    }

    /** Makes the memory usable again; only after its use has ended and no operation uses it. */
    final void revive() {
        posted = 0;
    }

    /**
     * Called when no operation uses the memory any more after {@link #end}: by the caller of that, or by the thread
     * that polls.
     */
    abstract void idle();
}
