package lunar.scsi.target;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Cleaner;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Pool of native memory for the data of commands, in size classes of powers of four from 4 KiB. Bounded: buffers in use
 * and idle buffers together exceed the limit by at most one buffer. Idle buffers are kept. A buffer that is dropped to
 * make room for another size class counts until the garbage collector has freed it, so that the pool never reaches the
 * JVM's limit, where the allocating thread, usually an event loop, would sleep. Thread-safe.
 */
public final class Buffers {
    private static final System.Logger LOG = System.getLogger("lunar.target");
    private static final int SMALLEST_SHIFT = 12;
    private static final int CLASS_SHIFT = 2;
    private static final int ALIGNMENT = 4096;

    /** Memory lent to a task. Belongs to one user at a time. */
    public static final class Buffer {
        private static final int SLICES = 16;
        private static final int HASH = 0x9e3779b9;
        private static final int HASH_SHIFT = 28; // leaves an index below SLICES

        private final MemorySegment memory;
        private final int sizeClass;
        private final Runnable whenDropped;
        /** Slices made so far, kept for the next user, which most likely needs the same ones. */
        private @Nullable MemorySegment @Nullable [] slices;

        private Buffer(MemorySegment memory, int sizeClass, Runnable whenDropped) {
            this.memory = memory;
            this.sizeClass = sizeClass;
            this.whenDropped = whenDropped;
        }

        /** Returns the whole buffer. */
        public MemorySegment memory() { return memory; }

        /** Returns the index of its size class. */
        int sizeClass() { return sizeClass; }

        /** Returns a slice, cached for users that slice their buffers alike. */
        public MemorySegment slice(int offset, int length) {
            if (length == memory.byteSize() && offset == 0) {
                return memory;
            }
            @Nullable
            MemorySegment[] known = slices;
            if (known == null) {
                known = new MemorySegment[SLICES];
                slices = known;
            }
            int at = ((offset + length) * HASH) >>> HASH_SHIFT;
            MemorySegment slice = known[at];
            if (slice == null || slice.byteSize() != length
                    || slice.address() != memory.address() + offset) {
                slice = memory.asSlice(offset, length);
                known[at] = slice;
            }
            return slice;
        }
    }

    /** Accounts for the memory of one of several users that must not starve each other. Belongs to one pool. */
    public static final class Share {
        private long bytes;

        public Share() {}
    }

    /**
     * A share may use at most this many times the memory that is free for the others: a single heavy user gets at most
     * three quarters, two get three sevenths each, and some memory is always left.
     */
    private static final int SHARE_OF_FREE = 3;

    private static final Cleaner FREED = Cleaner
            .create(Thread.ofPlatform().name("lunar-target-buffers").daemon().factory());

    private final List<ArrayDeque<Buffer>> idle = new ArrayList<>();
    private final long maxUnfreedBytes;
    private final Runnable collect;
    private final Function<MemorySegment, Runnable> registrar;
    private long maxBytes;
    private long usedBytes;
    private long idleBytes;

    /** Memory of dropped buffers that the garbage collector has not freed yet. */
    private long unfreedBytes;

    /** Whether a collection has been requested. */
    private boolean collecting;

    /**
     * @param maxBytes in use and idle
     * @param maxUnfreedBytes dropped and not freed yet; beyond it nothing is allocated
     */
    public Buffers(int largestBytes, long maxBytes, long maxUnfreedBytes) {
        this(largestBytes, maxBytes, maxUnfreedBytes, _ -> () -> {});
    }

    /**
     * @param maxBytes in use and idle
     * @param maxUnfreedBytes dropped and not freed yet; beyond it nothing is allocated
     * @param registrar called with the memory of each new buffer, so that a transport can register it; returns an
     *        action that undoes the registration and runs when the buffer is dropped
     */
    public Buffers(int largestBytes, long maxBytes, long maxUnfreedBytes,
            Function<MemorySegment, Runnable> registrar) {
        this(largestBytes, maxBytes, maxUnfreedBytes, registrar, System::gc);
    }

    /** @param collect frees dropped buffers; runs on a separate thread */
    Buffers(int largestBytes, long maxBytes, long maxUnfreedBytes,
            Function<MemorySegment, Runnable> registrar, Runnable collect) {
        this.maxUnfreedBytes = maxUnfreedBytes;
        this.registrar = registrar;
        this.collect = collect;
        this.maxBytes = maxBytes;
        for (int i = 0; i <= sizeClass(largestBytes); i++) {
            idle.add(new ArrayDeque<>());
        }
    }

    private static int sizeClass(int bytes) {
        int shift = 32 - Integer.numberOfLeadingZeros(Math.max(1, bytes) - 1);
        return Math.max(0, (shift - SMALLEST_SHIFT + CLASS_SHIFT - 1) / CLASS_SHIFT);
    }

    private static int bytesOf(int sizeClass) {
        return 1 << (SMALLEST_SHIFT + CLASS_SHIFT * sizeClass);
    }

    /** Like {@link #take(int)}, but also returns null if the share would exceed its part of the pool. */
    public synchronized @Nullable Buffer take(int bytes, Share share) {
        int size = bytesOf(sizeClass(bytes));
        if (share.bytes > 0
                && share.bytes + size > SHARE_OF_FREE * (maxBytes - usedBytes - size)) {
            return null;
        }
        Buffer taken = take(bytes);
        if (taken != null) {
            share.bytes += size;
        }
        return taken;
    }

    /** Returns memory of a share to the pool. */
    public synchronized void give(Buffer buffer, Share share) {
        share.bytes -= bytesOf(buffer.sizeClass());
        give(buffer);
    }

    /**
     * Takes a buffer of at least this many bytes, with undefined content. Returns null if the pool is exhausted: not an
     * Optional, which each command would allocate.
     */
    public synchronized @Nullable Buffer take(int bytes) {
        int sizeClass = sizeClass(bytes);
        int size = bytesOf(sizeClass);
        Buffer kept = idle.get(sizeClass).poll();
        if (kept != null) {
            idleBytes -= size;
            usedBytes += size;
            return kept;
        }
        if (usedBytes + size > maxBytes) {
            return null;
        }
        if (usedBytes + idleBytes + size > maxBytes && !dropIdle(size)) {
            return null;
        }
        try {
            MemorySegment memory = Arena.ofAuto().allocate(size, ALIGNMENT);
            var fresh = new Buffer(memory, sizeClass, registrar.apply(memory));
            usedBytes += size;
            return fresh;
        } catch (OutOfMemoryError _) {
            // The JVM's limit is below the pool's, and each allocation that reaches it stalls for half a second: stay
            // below it.
            maxBytes = Math.max(size, usedBytes);
            LOG.log(System.Logger.Level.WARNING,
                    "the JVM limits the memory for command data to {0} bytes; "
                            + "raise the limit with -XX:MaxDirectMemorySize",
                    maxBytes);
            return null;
        }
    }

    /**
     * Makes room by dropping idle buffers, the largest first; returns false if too much dropped memory is not freed
     * yet.
     */
    private boolean dropIdle(int needed) {
        for (int sizeClass = idle.size() - 1; sizeClass >= 0; sizeClass--) {
            while (usedBytes + idleBytes + needed > maxBytes) {
                if (unfreedBytes + bytesOf(sizeClass) > maxUnfreedBytes) {
                    collect();
                    return false;
                }
                Buffer dropped = idle.get(sizeClass).poll();
                if (dropped == null) {
                    break;
                }
                idleBytes -= bytesOf(sizeClass);
                drop(dropped, bytesOf(sizeClass));
            }
        }
        return true;
    }

    private void drop(Buffer buffer, int size) {
        buffer.whenDropped.run();
        unfreedBytes += size;
        FREED.register(buffer, () -> freed(size));
    }

    private synchronized void freed(int size) { unfreedBytes -= size; }

    private void collect() {
        if (!collecting) {
            collecting = true;
            Thread.ofPlatform().name("lunar-target-collect").daemon().start(() -> {
                collect.run();
                collected();
            });
        }
    }

    private synchronized void collected() { collecting = false; }

    /** Returns memory to the pool. */
    public synchronized void give(Buffer buffer) {
        int size = bytesOf(buffer.sizeClass());
        usedBytes -= size;
        if (usedBytes + idleBytes + size <= maxBytes) {
            idleBytes += size;
            idle.get(buffer.sizeClass()).push(buffer);
        } else { // the limit was lowered meanwhile
            drop(buffer, size);
        }
    }

    public synchronized long usedBytes() { return usedBytes; }
}
