package lunar.iser.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import lunar.rdma.Access;
import lunar.rdma.MemoryRegion;
import lunar.rdma.ProtectionDomain;
import lunar.rdma.RdmaException;

/**
 * Registered memory of one connection of an initiator, which stands in for buffers of commands: those on the heap, and
 * short ones, which are copied faster than registered. Its peer can access all of it as long as the connection lives.
 * In size classes of powers of two. Thread-safe.
 */
public final class Bounces implements AutoCloseable {
    private static final int SMALLEST_SHIFT = 12;
    private static final int CLASSES = 14;
    private static final int PAGE = 4096;
    private static final long MAX_IDLE_BYTES = 16 << 20;

    /** A stand-in; belongs to one command. */
    public static final class Bounce {
        private final MemoryRegion region;
        private final int sizeClass;

        Bounce(MemoryRegion region, int sizeClass) {
            this.region = region;
            this.sizeClass = sizeClass;
        }

        public MemoryRegion region() { return region; }

        public MemorySegment memory() { return region.segment(); }
    }

    private final ProtectionDomain domain;
    private final List<ArrayDeque<Bounce>> idle = new ArrayList<>();
    private long idleBytes;
    /** Stand-ins that the peer may still write to. */
    private final List<Bounce> abandoned = new ArrayList<>();
    private boolean closed;

    public Bounces(ProtectionDomain domain) {
        this.domain = domain;
        for (int i = 0; i < CLASSES; i++) {
            idle.add(new ArrayDeque<>());
        }
    }

    private static int sizeClass(long bytes) {
        int shift = Long.SIZE - Long.numberOfLeadingZeros(Math.max(1, bytes) - 1);
        return Math.max(0, shift - SMALLEST_SHIFT);
    }

    /** Takes memory for at least so many bytes, with whatever content is left in it. */
    public Bounce take(long bytes) throws RdmaException {
        int sizeClass = sizeClass(bytes);
        synchronized (this) {
            Bounce kept = sizeClass < CLASSES ? idle.get(sizeClass).poll() : null;
            if (kept != null) {
                idleBytes -= kept.memory().byteSize();
                return kept;
            }
        }
        MemorySegment fresh = Arena.ofAuto().allocate(1L << (SMALLEST_SHIFT + sizeClass), PAGE);
        return new Bounce(domain.register(fresh, Access.ALL), sizeClass);
    }

    /** Takes memory back that the peer does not access any more. */
    public void give(Bounce bounce) {
        synchronized (this) {
            long bytes = bounce.memory().byteSize();
            if (!closed && bounce.sizeClass < CLASSES && idleBytes + bytes <= MAX_IDLE_BYTES) {
                idle.get(bounce.sizeClass).push(bounce);
                idleBytes += bytes;
                return;
            }
        }
        bounce.region.close();
    }

    /** Takes memory back that the peer may still access: it is not used again. */
    public void abandon(Bounce bounce) {
        synchronized (this) {
            if (!closed) {
                abandoned.add(bounce);
                return;
            }
        }
        bounce.region.close();
    }

    /** Deregisters what is idle or abandoned, after the end of the connection; the rest as it is given back. */
    @Override
    public synchronized void close() {
        closed = true;
        idle.forEach(each -> {
            each.forEach(bounce -> bounce.region.close());
            each.clear();
        });
        abandoned.forEach(bounce -> bounce.region.close());
        abandoned.clear();
        idleBytes = 0;
    }
}
