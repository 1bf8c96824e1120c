package lunar.tcp;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32C;
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

    /** A buffer to write, and who gets it back: a chunk of ours, or the owner of data. */
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
        int padding = -dataLength & (WORD - 1);
        boolean copied = dataLength <= COPY_LIMIT;
        // Room for everything that is copied, so that a PDU's small parts never straddle two chunks.
        Chunks.Chunk to = room(headerLength + 3 * WORD + (copied ? dataLength : 0));
        append(to, header, headerLength);
        if (headerDigest) {
            crc.reset();
            crc.update(slice(to, fill - headerLength, headerLength));
            appendDigest(to);
        }
        if (copied && dataLength > 0) {
            int at = fill;
            append(to, data, dataLength);
            pad(to, padding);
            if (dataDigest) {
                crc.reset();
                crc.update(slice(to, at, fill - at));
                appendDigest(to);
            }
        } else if (dataLength > 0) {
            seal(to);
            ByteBuffer bytes = data.asByteBuffer();
            pieces.add(new Piece(bytes, null, release));
            pad(to, padding);
            if (dataDigest) {
                crc.reset();
                crc.update(bytes.duplicate());
                if (padding > 0) {
                    crc.update(slice(to, fill - padding, padding));
                }
                appendDigest(to);
            }
        }
        queuedBytes.addAndGet(headerLength + dataLength);
        return copied;
    }

    private Chunks.Chunk room(int length) {
        Chunks.Chunk current = chunk;
        if (current != null && Chunks.SIZE - fill >= length) {
            return current;
        }
        retireChunk();
        Chunks.Chunk fresh = chunks.take();
        chunk = fresh;
        start = 0;
        fill = 0;
        return fresh;
    }

    /** Queues the rest of the current chunk as its last piece, which takes it back to the pool once written. */
    private void retireChunk() {
        Chunks.Chunk current = chunk;
        if (current != null) {
            pieces.add(new Piece(slice(current, start, fill - start), current, null));
            chunk = null;
            start = 0;
            fill = 0;
        }
    }

    /** Queues what was appended since the last piece; the chunk goes on being filled behind it. */
    private void seal(Chunks.Chunk current) {
        if (fill > start) {
            pieces.add(new Piece(slice(current, start, fill - start), null, null));
            start = fill;
        }
    }

    private void append(Chunks.Chunk to, MemorySegment bytes, int length) {
        MemorySegment.copy(bytes, 0, to.bytes(), fill, length);
        fill += length;
    }

    private void appendDigest(Chunks.Chunk to) {
        to.buffer().putInt(fill, Integer.reverseBytes((int) crc.getValue()));
        fill += WORD;
    }

    private void pad(Chunks.Chunk to, int length) {
        for (int i = 0; i < length; i++) {
            to.buffer().put(fill++, (byte) 0);
        }
    }

    private static ByteBuffer slice(Chunks.Chunk chunk, int at, int length) {
        return chunk.buffer().slice(at, length);
    }

    /** Writes as much as the socket takes. Returns whether everything is out. */
    boolean writeTo(SocketChannel channel) throws IOException {
        retireChunk();
        while (!pieces.isEmpty()) {
            int count = 0;
            for (Piece piece : pieces) {
                gather[count++] = piece.bytes();
                if (count == MAX_GATHER) {
                    break;
                }
            }
            long _ = count == 1 ? channel.write(gather[0]) : channel.write(gather, 0, count);
            while (!pieces.isEmpty() && !pieces.element().bytes().hasRemaining()) {
                done(pieces.remove());
            }
            if (gather[count - 1].hasRemaining()) {
                return false;
            }
        }
        queuedBytes.set(0);
        return true;
    }

    private void done(Piece piece) {
        queuedBytes.addAndGet(-piece.bytes().limit());
        if (piece.chunk() != null) {
            chunks.give(piece.chunk());
        }
        if (piece.release() != null) {
            written.add(piece.release());
        }
    }

    /** Drops everything, for a connection that has ended. */
    void clear() {
        retireChunk();
        Piece piece;
        while ((piece = pieces.poll()) != null) {
            done(piece);
        }
        queuedBytes.set(0);
    }

    /** The next owner to be given back its data, whose bytes are written or dropped. */
    @Nullable
    Release pollWritten() { return written.poll(); }
}
