package lunar.tcp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.util.Arrays;
import lunar.iscsi.spi.Transport.Release;
import lunar.iscsi.spi.Transport.Source;
import org.jspecify.annotations.Nullable;

/**
 * Pieces of output in order: parts of chunks, and data in place. A ring of parallel arrays, so that nothing is
 * allocated per piece; one gathering write covers many pieces, because few long writes cost the kernel half as much as
 * many short ones.
 */
final class Pieces {
    private static final int MAX_GATHER = 64;
    private static final int FIRST_CAPACITY = 16;

    /**
     * The memory of each piece: a {@link Chunks.Chunk}, or a {@link ByteBuffer} which several may have, or a
     * {@link Source}, which sends it itself.
     */
    private @Nullable Object[] memory = new Object[FIRST_CAPACITY];
    /** Given back after each piece: a {@link Chunks.Chunk} to the pool, or data to their owner; or null. */
    private @Nullable Object[] after = new Object[FIRST_CAPACITY];
    private int[] from = new int[FIRST_CAPACITY];
    /** Where the piece of a source begins there. */
    private long[] origin = new long[FIRST_CAPACITY];
    private int[] to = new int[FIRST_CAPACITY];
    private int first;
    private int count;

    private final @Nullable ByteBuffer[] gather = new ByteBuffer[MAX_GATHER];
    private int gathered;

    boolean isEmpty() { return count == 0; }

    /** Adds a part of a chunk. */
    void add(Chunks.Chunk chunk, int fromByte, int toByte) {
        put(chunk, fromByte, toByte, null);
    }

    /** Ends a chunk: no part of it follows. */
    void end(Chunks.Chunk chunk) {
        put(chunk, 0, 0, chunk);
    }

    /** Adds data where they lie: all of the buffer; its position and limit count only during a write. */
    void add(ByteBuffer data, Release release) {
        put(data, 0, data.capacity(), release);
    }

    /** Adds data of a source. */
    void add(Source source, long originBytes, int length, Release release) {
        put(source, 0, length, release);
        origin[(first + count - 1) & (memory.length - 1)] = originBytes;
    }

    private void put(Object bytes, int fromByte, int toByte, @Nullable Object then) {
        if (count == memory.length) {
            grow();
        }
        int at = (first + count) & (memory.length - 1);
        memory[at] = bytes;
        from[at] = fromByte;
        to[at] = toByte;
        after[at] = then;
        count++;
    }

    private void grow() {
        int capacity = memory.length;
        memory = Arrays.copyOf(memory, 2 * capacity);
        after = Arrays.copyOf(after, 2 * capacity);
        from = Arrays.copyOf(from, 2 * capacity);
        to = Arrays.copyOf(to, 2 * capacity);
        origin = Arrays.copyOf(origin, 2 * capacity);
        // Wrapped entries are now after the rest; their old positions are overwritten later.
        System.arraycopy(memory, 0, memory, capacity, first);
        System.arraycopy(after, 0, after, capacity, first);
        System.arraycopy(from, 0, from, capacity, first);
        System.arraycopy(to, 0, to, capacity, first);
        System.arraycopy(origin, 0, origin, capacity, first);
        Arrays.fill(memory, 0, first, null);
        Arrays.fill(after, 0, first, null);
    }

    /** Moves the end of the last piece. */
    void extend(int toByte) {
        to[(first + count - 1) & (memory.length - 1)] = toByte;
    }

    /** Gathers the pieces of one write, or one transfer; returns their bytes. */
    long gather() {
        gathered = 0;
        if (memory[first] instanceof Source && from[first] < to[first]) {
            return (long) to[first] - from[first];
        }
        long bytes = 0;
        Object chunk = null;
        int parts = 0;
        for (int i = 0; i < count && gathered < MAX_GATHER; i++) {
            int at = (first + i) & (memory.length - 1);
            if (from[at] == to[at]) {
                continue;
            }
            if (memory[at] instanceof Chunks.Chunk part) {
                parts = part.equals(chunk) ? parts + 1 : 0; // parts of one chunk precede those of the next
                chunk = part;
                gather[gathered++] = part.view(parts, from[at], to[at]);
            } else if (memory[at] instanceof ByteBuffer data) {
                if (isGathered(data)) {
                    break; // the same data again, for which there is but one position
                }
                gather[gathered++] = data.limit(to[at]).position(from[at]);
            } else {
                break; // a source, which sends alone
            }
            bytes += to[at] - from[at];
        }
        return bytes;
    }

    @SuppressWarnings("ReferenceEquality") // the same buffer, not one with the same content
    private boolean isGathered(Object data) {
        for (int i = 0; i < gathered; i++) {
            Object buffer = gather[i];
            if (buffer == data) {
                return true;
            }
        }
        return false;
    }

    /** Writes the gathered pieces once; returns the number of bytes that the socket accepted. */
    long write(GatheringByteChannel channel) throws IOException {
        long written;
        if (gathered == 0 && memory[first] instanceof Source source) {
            written = source.transferTo(origin[first] + from[first], to[first] - from[first],
                    channel);
            from[first] += (int) written;
            return written;
        }
        try {
            ByteBuffer only = gather[0];
            written = gathered == 1 && only != null
                    ? channel.write(only)
                    : channel.write(gather, 0, gathered);
        } finally {
            Arrays.fill(gather, 0, gathered, null); // or it would keep the owners' memory alive
        }
        long left = written;
        for (int at = first; left > 0; at = (at + 1) & (memory.length - 1)) {
            int taken = (int) Math.min(left, to[at] - from[at]);
            from[at] += taken;
            left -= taken;
        }
        return written;
    }

    /** Whether the first piece is written. */
    boolean isFirstWritten() {
        return count > 0 && from[first] == to[first];
    }

    /** Removes the first piece, written or not; returns the action that follows it. */
    @Nullable
    Object remove() {
        Object then = after[first];
        memory[first] = null;
        after[first] = null;
        first = (first + 1) & (memory.length - 1);
        count--;
        return then;
    }
}
