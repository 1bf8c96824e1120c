package lunar.tcp;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import lunar.iscsi.framing.DirectMemory;
import org.jspecify.annotations.Nullable;

/**
 * Pool of output buffers shared by the connections of a group of loops, so that only connections with queued output use
 * memory. Bounded well below the JVM's limit of direct memory: in an allocation beyond that limit the JDK sleeps for up
 * to half a second, which would block a loop with many connections. Allocated chunks are kept, so that the bound does
 * not depend on garbage collection. Thread-safe.
 *
 * <p>When only a reserve is left, the connection with most chunks is ended; among equals, the one that has continuously
 * held chunks for longest. Meanwhile the other connections are served from the reserve.
 */
final class Chunks {
    /** Bytes of a chunk: fourteen 4 KiB answers with headers go into one write. */
    static final int SIZE = 64 * 1024;

    /** Number of chunks allocated without checking the JVM's limit, whose lookup takes some milliseconds. */
    private static final int FEW = 256;

    /** Most memory for output: this part of the JVM's direct memory, or so many bytes if that is less. */
    private static final int PART_OF_DIRECT = 4;
    private static final long MOST_BYTES = 512L << 20;

    /** A connection crowds the others when it has more than this part of what is free. */
    private static final int PART_OF_FREE = 16;

    /** This part of all is left for others until the connection that holds most has ended. */
    private static final int PART_OF_RESERVE = 16;

    /** An output buffer, confined to its holder. */
    static final class Chunk {
        // Not of an arena: for the buffers of one, the JDK makes objects in each gathering write.
        private final ByteBuffer buffer = ByteBuffer.allocateDirect(SIZE);
        private final MemorySegment bytes = MemorySegment.ofBuffer(buffer);
        private ByteBuffer[] views = {buffer};

        MemorySegment bytes() { return bytes; }

        /** A buffer over a part of the chunk, the same one each time for the same number from 0. */
        ByteBuffer view(int number, int from, int to) {
            if (number == views.length) {
                views = Arrays.copyOf(views, number + 1);
                views[number] = buffer.duplicate();
            }
            return views[number].limit(to).position(from);
        }
    }

    /** A connection as far as it holds chunks; guarded by the pool's lock. */
    static final class Holder {
        private final Consumer<OutputMemoryException> end;
        private int held;
        private boolean ending;
        private @Nullable Holder before;
        private @Nullable Holder after;

        /** @param end ends the connection later, so that its chunks come back; called by a thread that needs some */
        Holder(Consumer<OutputMemoryException> end) {
            this.end = end;
        }
    }

    private final Deque<Chunk> idle = new ArrayDeque<>();
    private final LongSupplier directBytes;
    private int most = FEW;
    private boolean bounded;
    private int allocated;
    private int inUse;
    /** Holders that have chunks, the longest-standing one first; linked, so that nothing is allocated for it. */
    private @Nullable Holder first;
    private @Nullable Holder last;

    Chunks() { this(DirectMemory::limitBytes); }

    /** @param directBytes the JVM's limit of direct memory; queried once, when needed */
    Chunks(LongSupplier directBytes) {
        this.directBytes = directBytes;
    }

    /**
     * Takes a chunk for a connection. May end another connection.
     *
     * @throws OutputMemoryException if there is none, or too few are left and this connection holds most
     */
    Chunk take(Holder by) {
        Holder greedy = greedy();
        if (greedy != null) {
            var why = new OutputMemoryException("memory for output is short, and this connection "
                    + "holds most of it: its peer does not receive its responses");
            if (greedy.equals(by)) {
                throw why;
            }
            greedy.end.accept(why);
        }
        return takeNow(by);
    }

    private synchronized Chunk takeNow(Holder by) {
        Chunk chunk = idle.poll();
        if (chunk == null) {
            chunk = allocate();
        }
        inUse++;
        if (by.held++ == 0) {
            link(by);
        }
        return chunk;
    }

    /** The connection that is to end so that others have memory; null if none is, or one is ending already. */
    private synchronized @Nullable Holder greedy() {
        if (!isScarce()) {
            return null;
        }
        Holder greedy = null;
        for (Holder each = first; each != null; each = each.after) {
            if (each.ending) {
                return null;
            }
            greedy = greedy == null || each.held > greedy.held ? each : greedy;
        }
        if (greedy != null) {
            greedy.ending = true;
        }
        return greedy;
    }

    private boolean isScarce() {
        if (inUse >= most - most / PART_OF_RESERVE) {
            bound();
        }
        return inUse >= most - most / PART_OF_RESERVE;
    }

    private void link(Holder holder) {
        holder.before = last;
        if (last == null) {
            first = holder;
        } else {
            last.after = holder;
        }
        last = holder;
    }

    private void unlink(Holder holder) {
        if (holder.before == null) {
            first = holder.after;
        } else {
            holder.before.after = holder.after;
        }
        if (holder.after == null) {
            last = holder.before;
        } else {
            holder.after.before = holder.before;
        }
        holder.before = null;
        holder.after = null;
    }

    private Chunk allocate() {
        if (allocated >= most) {
            bound();
        }
        if (allocated >= most) {
            throw new OutputMemoryException("no memory for output: all of " + most * (SIZE / 1024)
                    + " KiB are queued for peers that do not receive");
        }
        try {
            Chunk chunk = new Chunk();
            allocated++;
            return chunk;
        } catch (OutOfMemoryError e) {
            // Others have it. Not tried again, for each try takes half a second.
            bounded = true;
            most = allocated;
            throw new OutputMemoryException("no direct memory for output beyond "
                    + most * (SIZE / 1024) + " KiB; raise -XX:MaxDirectMemorySize", e);
        }
    }

    synchronized void give(Holder by, Chunk chunk) {
        inUse--;
        if (--by.held == 0) {
            unlink(by);
        }
        assert inUse >= 0 : "chunk released twice";
        idle.push(chunk);
    }

    /**
     * Whether a connection with this many chunks should wait until they are written. The more chunks are in use, the
     * fewer each connection may hold, so that some are always left even if many peers do not receive.
     */
    synchronized boolean isCrowdedBy(int held) {
        if (held > share()) {
            bound();
        }
        return held > share();
    }

    private int share() { return Math.max(1, (most - inUse) / PART_OF_FREE); }

    private void bound() {
        if (!bounded) {
            bounded = true;
            most = (int) Math.max(FEW,
                    Math.min(directBytes.getAsLong() / PART_OF_DIRECT, MOST_BYTES) / SIZE);
        }
    }

    /** Chunks taken and not given back. */
    synchronized int inUse() { return inUse; }
}
