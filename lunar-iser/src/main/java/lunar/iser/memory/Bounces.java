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
 * Pool of registered bounce buffers of one initiator connection. They replace command buffers that are on the heap, and
 * short ones, which are faster to copy than to register. The peer can access all of them as long as the connection
 * lives. Size classes are powers of two. Thread-safe.
 */
public final class Bounces implements AutoCloseable {
    private static final int SMALLEST_SHIFT = 12;
    private static final int CLASSES = 14;
    private static final int PAGE = 4096;
    private static final long MAX_IDLE_BYTES = 16 << 20;

    /** A bounce buffer; belongs to one command until it is given back. */
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
    /** Bounce buffers that the peer may still access. */
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

    /** Takes a bounce buffer of at least the given length. It still has the contents of its last use. */
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

    /** Gives back a bounce buffer that the peer no longer accesses. */
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

    /** Gives back a bounce buffer that the peer may still access: it is not reused. */
    public void abandon(Bounce bounce) {
        synchronized (this) {
            if (!closed) {
                abandoned.add(bounce);
                return;
            }
        }
        bounce.region.close();
    }

    /** Deregisters idle and abandoned buffers after the end of the connection; the others when they are given back. */
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
