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
 * Pool of native memory for the data of commands, in size classes of powers of four from 4 KiB. Bounded: what is in
 * use and what is kept idle together never exceed the limit by more than one buffer. Idle buffers are kept; where those
 * of one class make room for another, their memory counts until the garbage collector has freed it. So the pool never
 * runs into the limit of the JVM, where the thread that asks, an event loop most often, sleeps. Thread-safe.
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
        private static final int HASH_SHIFT = 28; // leaves a number below SLICES

        private final MemorySegment memory;
        private final int sizeClass;
        private final Runnable whenDropped;
        /** Parts that were asked for, kept for the next user, which most likely asks for the same ones. */
        private @Nullable MemorySegment @Nullable [] slices;

        private Buffer(MemorySegment memory, int sizeClass, Runnable whenDropped) {
            this.memory = memory;
            this.sizeClass = sizeClass;
            this.whenDropped = whenDropped;
        }

        /** All of it. */
        public MemorySegment memory() { return memory; }

        /** Where it belongs in the pool. */
        int sizeClass() { return sizeClass; }

        /** Returns a part of it; made once for users that cut their buffers alike. */
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

    /** The memory of one user, of several that must not starve each other. Belongs to one pool. */
    public static final class Share {
        private long bytes;

        public Share() {}
    }

    /**
     * A share may be this many times what is free for the others: one that hoards ends at three quarters, two at
     * three sevenths each, and there is always something left.
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

    /** Memory of buffers that were dropped, and that the garbage collector has not freed. */
    private long unfreedBytes;

    /** The collector has been asked to free it. */
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
     * @param registrar called with the memory of each new buffer, as a transport may have to prepare it; returns what
     *        ends that, which runs when the buffer is dropped
     */
    public Buffers(int largestBytes, long maxBytes, long maxUnfreedBytes,
            Function<MemorySegment, Runnable> registrar) {
        this(largestBytes, maxBytes, maxUnfreedBytes, registrar, System::gc);
    }

    /** @param collect frees what was dropped; on a thread of its own */
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

    /** Like {@link #take(int)}, and null too where the share has more than the others leave to it. */
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

    /** Takes memory of a share back. */
    public synchronized void give(Buffer buffer, Share share) {
        share.bytes -= bytesOf(buffer.sizeClass());
        give(buffer);
    }

    /**
     * Takes memory of at least so many bytes, with whatever content was there. Null where there is none left: not an
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
            // The limit of the JVM is below ours, and running into it costs half a second each time: keep away from it.
            maxBytes = Math.max(size, usedBytes);
            LOG.log(System.Logger.Level.WARNING,
                    "memory for commands is limited to {0} bytes by the JVM; "
                            + "-XX:MaxDirectMemorySize gives it more",
                    maxBytes);
            return null;
        }
    }

    /** Makes room by dropping idle buffers, the largest first; false where too many dropped ones are not free yet. */
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

    /** Takes memory back. */
    public synchronized void give(Buffer buffer) {
        int size = bytesOf(buffer.sizeClass());
        usedBytes -= size;
        if (usedBytes + idleBytes + size <= maxBytes) {
            idleBytes += size;
            idle.get(buffer.sizeClass()).push(buffer);
        } else { // the limit has been lowered meanwhile
            drop(buffer, size);
        }
    }

    public synchronized long usedBytes() { return usedBytes; }
}
