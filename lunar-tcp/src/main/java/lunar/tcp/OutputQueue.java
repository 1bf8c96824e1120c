package lunar.tcp;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32C;
import lunar.iscsi.Bhs;
import lunar.iscsi.spi.Framing;
import lunar.iscsi.spi.Transport.Release;
import org.jspecify.annotations.Nullable;

/**
 * PDUs on their way out, as a list of buffers for gathering writes. Headers, digests and short data are copied
 * into chunks one behind the other, since one buffer costs the kernel less than many; long data are written from
 * where they lie. Guarded by the connection's lock, but for {@link #queuedBytes}.
 */
final class OutputQueue {
    /** Data to this length are copied: a memcpy of it is cheaper than another element of the gather. */
    private static final int COPY_LIMIT = 8 * 1024;
    private static final int MAX_GATHER = 64;
    private static final int WORD = 4;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /** A buffer to write, and what follows: a chunk goes back to the pool, or data to their owner. */
    private record Piece(ByteBuffer bytes, Chunks.@Nullable Chunk chunk,
            @Nullable Release release) {}

    private final Chunks chunks;
    private final Deque<Piece> pieces = new ArrayDeque<>();
    private final Deque<Release> written = new ArrayDeque<>();
    private final ByteBuffer[] gather = new ByteBuffer[MAX_GATHER];
    private final CRC32C crc = new CRC32C();
    private boolean headerDigest;
    private boolean dataDigest;
    private final AtomicLong queuedBytes = new AtomicLong();

    /** The chunk being filled, from {@code start} (first byte not yet in a piece) to {@code fill}. */
    private Chunks.@Nullable Chunk chunk;
    private int start;
    private int fill;
    /** The last piece, where it ends at {@code start} of the chunk, so that more can be put on to it. */
    private @Nullable ByteBuffer tail;

    OutputQueue(Chunks chunks) { this.chunks = chunks; }

    void framing(Framing framing) {
        headerDigest = framing.headerDigest();
        dataDigest = framing.dataDigest();
    }

    long queuedBytes() { return queuedBytes.get(); }

    boolean isEmpty() { return pieces.isEmpty() && fill == start; }

    /** Queues a PDU. Returns whether its data were copied, so that their owner may have them back at once. */
    boolean add(MemorySegment header, MemorySegment data, Release release) {
        int headerLength = (int) header.byteSize();
        int dataLength = (int) data.byteSize();
        assert lengthsAgree(header, dataLength) : "header of another PDU";
        int padding = -dataLength & (WORD - 1);
        boolean copied = dataLength <= COPY_LIMIT;
        boolean digested = dataDigest && dataLength > 0;
        // What can fail, an owner's closed arena above all, comes before anything counts as queued.
        ByteBuffer bytes = copied && !digested ? NOTHING : data.asByteBuffer();
        int digest = digested ? digest(bytes.duplicate(), padding) : 0;
        // Room for everything that is copied, so that a PDU's small parts never straddle two chunks.
        Chunks.Chunk to = room(headerLength + 3 * WORD + (copied ? dataLength : 0));
        int dataAt = fill + headerLength + (headerDigest ? WORD : 0);
        MemorySegment.copy(header, 0, to.bytes(), fill, headerLength);
        if (copied) {
            MemorySegment.copy(data, 0, to.bytes(), dataAt, dataLength);
        }
        if (headerDigest) {
            to.buffer().putInt(fill + headerLength,
                    digest(to.buffer().slice(fill, headerLength), 0));
        }
        queuedBytes.addAndGet(dataAt - fill + dataLength + padding + (digested ? WORD : 0));
        fill = dataAt;
        if (copied) {
            fill += dataLength;
        } else {
            seal(to);
            pieces.add(new Piece(bytes, null, release));
            tail = null;
        }
        for (int i = 0; i < padding; i++) {
            to.buffer().put(fill++, (byte) 0);
        }
        if (digested) {
            to.buffer().putInt(fill, digest);
            fill += WORD;
        }
        return copied;
    }

    private static boolean lengthsAgree(MemorySegment header, int dataLength) {
        Bhs bhs = new Bhs().wrap(header);
        return header.byteSize() == Bhs.LENGTH + bhs.totalAhsLengthBytes()
                && bhs.dataSegmentLength() == dataLength;
    }

    /** CRC32C as it lies on the wire: least significant byte first (RFC 7143 section 13.1). */
    private int digest(ByteBuffer bytes, int padding) {
        crc.reset();
        crc.update(bytes);
        for (int i = 0; i < padding; i++) {
            crc.update(0);
        }
        return Integer.reverseBytes((int) crc.getValue());
    }

    private Chunks.Chunk room(int length) {
        Chunks.Chunk current = chunk;
        if (current != null && Chunks.SIZE - fill >= length) {
            return current;
        }
        retireChunk();
        Chunks.Chunk fresh = chunks.take();
        chunk = fresh;
        return fresh;
    }

    /** Queues what is left of the current chunk, and behind it the chunk's way back to the pool. */
    private void retireChunk() {
        Chunks.Chunk current = chunk;
        if (current != null) {
            seal(current);
            pieces.add(new Piece(NOTHING, current, null));
            forgetChunk();
        }
    }

    private void forgetChunk() {
        chunk = null;
        tail = null;
        start = 0;
        fill = 0;
    }

    /** Queues what was appended since the last piece; the chunk goes on being filled behind it. */
    private void seal(Chunks.Chunk current) {
        if (fill == start) {
            return;
        }
        if (tail == null) {
            tail = current.buffer().duplicate().limit(fill).position(start);
            pieces.add(new Piece(tail, null, null));
        } else {
            tail.limit(fill);
        }
        start = fill;
    }

    /** Writes as much as the socket takes. Returns whether everything is out. */
    boolean writeTo(SocketChannel channel) throws IOException {
        if (chunk != null) {
            // Not retired: a peer that does not read would else cost a chunk for each small answer.
            seal(chunk);
        }
        while (!pieces.isEmpty()) {
            int count = 0;
            for (Piece piece : pieces) {
                gather[count++] = piece.bytes();
                if (count == MAX_GATHER) {
                    break;
                }
            }
            try {
                long written = count == 1
                        ? channel.write(gather[0])
                        : channel.write(gather, 0, count);
                queuedBytes.addAndGet(-written);
            } finally {
                Arrays.fill(gather, 0, count, NOTHING); // or it would keep the owners' memory alive
            }
            for (; count > 0; count--) {
                if (pieces.element().bytes().hasRemaining()) {
                    return false;
                }
                done(pieces.remove());
            }
        }
        giveChunk();
        return true;
    }

    private void done(Piece piece) {
        if (piece.chunk() != null) {
            chunks.give(piece.chunk());
        }
        if (piece.release() != null) {
            written.add(piece.release());
        }
    }

    private void giveChunk() {
        if (chunk != null) {
            chunks.give(chunk);
            forgetChunk();
        }
    }

    /** Drops everything, for a connection that has ended. */
    void clear() {
        Piece piece;
        while ((piece = pieces.poll()) != null) {
            done(piece);
        }
        giveChunk();
        queuedBytes.set(0);
    }

    /** The next owner to be given back its data, whose bytes are written or dropped. */
    @Nullable
    Release pollWritten() { return written.poll(); }
}
