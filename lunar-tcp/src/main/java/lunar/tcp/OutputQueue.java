package lunar.tcp;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.GatheringByteChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import lunar.iscsi.framing.BufferViews;
import lunar.iscsi.framing.Crc32c;
import lunar.iscsi.framing.Framing;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.spi.Transport.Release;
import lunar.iscsi.spi.Transport.Source;
import org.jspecify.annotations.Nullable;

/**
 * Output queue of PDUs. Headers, digests and short data are copied contiguously into chunks, because one buffer costs
 * the kernel less than many; long data is written in place, unless it is on the heap, from which no channel writes. In
 * the steady state nothing is allocated for a PDU or a write. Guarded by the connection's lock, except
 * {@link #queuedBytes}, {@link #bufferedBytes} and {@link #isCrowding}.
 */
final class OutputQueue {
    private static final System.Logger LOG = System.getLogger("lunar.tcp");

    /** Data to this length are copied: a memcpy of it is cheaper than another element of the gather. */
    private static final int COPY_LIMIT = 8 * 1024;
    private static final int WORD = 4;
    private static final ValueLayout.OfInt WIRE_INT = ValueLayout.JAVA_INT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);

    private final Chunks chunks;
    private final Chunks.Holder holder;
    private final Pieces pieces = new Pieces();
    private final Deque<Release> written = new ArrayDeque<>();
    private final BufferViews views = new BufferViews();
    private final Crc32c crc = new Crc32c();
    private final Bhs bhs = new Bhs();
    private boolean headerDigest;
    private boolean dataDigest;
    private final AtomicLong queuedBytes = new AtomicLong();
    /** Chunks that the queue has. */
    private final AtomicInteger chunksHeld = new AtomicInteger();

    /** The chunk being filled, from {@code start} (first byte not yet in a piece) to {@code fill}. */
    private Chunks.@Nullable Chunk chunk;
    private int start;
    private int fill;
    /** Whether the last piece ends at {@code start} of the chunk, so that more can be put on to it. */
    private boolean extensible;

    /** @param end ends the connection, where it holds more memory than any other and that is needed; any thread */
    OutputQueue(Chunks chunks, Consumer<OutputMemoryException> end) {
        this.chunks = chunks;
        holder = new Chunks.Holder(end);
    }

    void framing(Framing framing) {
        headerDigest = framing.headerDigest();
        dataDigest = framing.dataDigest();
    }

    long queuedBytes() { return queuedBytes.get(); }

    /** Returns the memory that the queue uses for headers and copied data. */
    long bufferedBytes() {
        return (long) chunksHeld.get() * Chunks.SIZE;
    }

    /** Whether it has more of that than is left to others. */
    boolean isCrowding() {
        int held = chunksHeld.get();
        return held > 1 && chunks.isCrowdedBy(held);
    }

    boolean isEmpty() { return pieces.isEmpty() && fill == start; }

    /** Queues a PDU. Returns whether its data were copied, so that their owner may have them back at once. */
    boolean add(MemorySegment header, MemorySegment data, Release release) {
        int headerLength = (int) header.byteSize();
        int dataLength = (int) data.byteSize();
        assert lengthsAgree(header, dataLength) : "header of another PDU";
        int padding = -dataLength & (WORD - 1);
        boolean digested = dataDigest && dataLength > 0;
        boolean isShort = dataLength <= COPY_LIMIT;
        // Operations that can fail, in particular on a closed arena, precede any change of the queue.
        ByteBuffer inPlace = isShort || !data.isNative() ? null : views.of(data);
        int digest = digested && !isShort ? digest(data, inPlace) : 0;
        // Ensure space for all short parts, so that they never straddle two chunks.
        Chunks.Chunk to = room(headerLength + 3 * WORD + (isShort ? dataLength : 0));
        int headerEnd = fill + headerLength;
        MemorySegment.copy(header, 0, to.bytes(), fill, headerLength);
        int dataAt = headerEnd + headerDigest(to, headerEnd);
        if (isShort) {
            MemorySegment.copy(data, 0, to.bytes(), dataAt, dataLength);
            if (digested) {
                digest = crc.reset().update(to.view(0, dataAt, dataAt + dataLength))
                        .pad(dataLength).wire();
            }
        }
        count(dataAt - fill + dataLength + padding + (digested ? WORD : 0));
        fill = dataAt;
        if (isShort) {
            fill += dataLength;
        } else if (inPlace != null) {
            seal(to);
            pieces.add(inPlace, release);
            extensible = false;
        } else {
            append(data, dataLength);
            to = room(2 * WORD);
        }
        if (padding > 0) {
            to.bytes().set(WIRE_INT, fill, 0); // and what is too much of it is written over
            fill += padding;
        }
        if (digested) {
            to.bytes().set(WIRE_INT, fill, digest);
            fill += WORD;
        }
        return inPlace == null;
    }

    /** Queues a PDU with data that can be sent from where they are. */
    void add(MemorySegment header, Source source, long offsetBytes, Release release) {
        bhs.wrap(header);
        int headerLength = (int) header.byteSize();
        int dataLength = bhs.dataSegmentLength();
        if (dataDigest || dataLength == 0 || dataLength % WORD != 0) {
            throw new IllegalArgumentException("PDU not suitable for direct transfer");
        }
        Chunks.Chunk to = room(headerLength + WORD);
        MemorySegment.copy(header, 0, to.bytes(), fill, headerLength);
        int length = headerLength + headerDigest(to, fill + headerLength);
        count(length + dataLength);
        fill += length;
        seal(to);
        pieces.add(source, offsetBytes, dataLength, release);
        extensible = false;
    }

    /** Appends the digest of a header, if negotiated; returns its length. */
    private int headerDigest(Chunks.Chunk to, int headerEnd) {
        if (!headerDigest) {
            return 0;
        }
        to.bytes().set(WIRE_INT, headerEnd,
                crc.reset().update(to.view(0, fill, headerEnd)).wire());
        return WORD;
    }

    private boolean lengthsAgree(MemorySegment header, int dataLength) {
        bhs.wrap(header);
        return header.byteSize() == Bhs.LENGTH + bhs.totalAhsLengthBytes()
                && bhs.dataSegmentLength() == dataLength;
    }

    private int digest(MemorySegment data, @Nullable ByteBuffer view) {
        crc.reset();
        return (view == null ? crc.update(data) : crc.update(view.clear())).pad(data.byteSize())
                .wire();
    }

    /** Counts under the lock, so that no other thread can change it meanwhile. */
    private void count(long bytes) {
        queuedBytes.setRelease(queuedBytes.getPlain() + bytes);
    }

    /** Copies long data into as many chunks as necessary. */
    private void append(MemorySegment data, int length) {
        for (int done = 0; done < length;) {
            Chunks.Chunk to = room(1);
            int part = Math.min(Chunks.SIZE - fill, length - done);
            MemorySegment.copy(data, done, to.bytes(), fill, part);
            fill += part;
            done += part;
        }
    }

    private Chunks.Chunk room(int length) {
        Chunks.Chunk current = chunk;
        if (current != null && Chunks.SIZE - fill >= length) {
            return current;
        }
        retireChunk();
        Chunks.Chunk fresh = chunks.take(holder);
        hold(1);
        chunk = fresh;
        return fresh;
    }

    /** Queues the rest of the current chunk, followed by its return to the pool. */
    private void retireChunk() {
        Chunks.Chunk current = chunk;
        if (current != null) {
            seal(current);
            pieces.end(current);
            forgetChunk();
        }
    }

    private void forgetChunk() {
        chunk = null;
        extensible = false;
        start = 0;
        fill = 0;
    }

    /** Queues the data appended since the last piece; the chunk is filled further after it. */
    private void seal(Chunks.Chunk current) {
        if (fill == start) {
            return;
        }
        if (extensible) {
            pieces.extend(fill);
        } else {
            pieces.add(current, start, fill);
            extensible = true;
        }
        start = fill;
    }

    /** Writes as much as the socket takes. Returns whether everything is out. */
    boolean writeTo(GatheringByteChannel channel) throws IOException {
        if (chunk != null) {
            // Not retired: a peer that does not read would else cost a chunk for each small answer.
            seal(chunk);
        }
        while (!pieces.isEmpty()) {
            long wanted = pieces.gather();
            long taken = pieces.write(channel);
            count(-taken);
            while (pieces.isFirstWritten()) {
                follow(pieces.remove());
            }
            if (taken < wanted) {
                return false;
            }
        }
        giveChunk();
        return true;
    }

    private void follow(@Nullable Object after) {
        switch (after) {
            case Chunks.Chunk done -> give(done);
            case Release release -> written.add(release);
            case null, default -> {
            }
        }
    }

    private void giveChunk() {
        if (chunk != null) {
            give(chunk);
            forgetChunk();
        }
    }

    private void give(Chunks.Chunk done) {
        hold(-1);
        chunks.give(holder, done);
    }

    /** Counts under the lock, as {@link #count} does. */
    private void hold(int more) {
        chunksHeld.setRelease(chunksHeld.getPlain() + more);
    }

    /** Drops everything, for a connection that has ended. */
    void clear() {
        while (!pieces.isEmpty()) {
            follow(pieces.remove());
        }
        giveChunk();
        queuedBytes.set(0);
    }

    /**
     * Releases written or dropped data to their owners. Called without the lock, because owners may send in turn.
     *
     * @param lock the connection's lock
     * @param peer for the log
     */
    void releaseWritten(Lock lock, Object peer) {
        while (true) {
            Release release;
            lock.lock();
            try {
                release = pollWritten();
            } finally {
                lock.unlock();
            }
            if (release == null) {
                return;
            }
            try {
                release.release();
            } catch (RuntimeException e) {
                // One owner's bug; the other owners wait for their data, and the socket for its next write.
                LOG.log(System.Logger.Level.ERROR, "releasing data sent to " + peer + " failed", e);
            }
        }
    }

    /** Returns the next release of data that are written or dropped; null if there is none. */
    @Nullable
    Release pollWritten() { return written.poll(); }
}
