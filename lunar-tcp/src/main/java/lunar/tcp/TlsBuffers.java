package lunar.tcp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import lunar.iscsi.framing.DirectMemory;
import org.jspecify.annotations.Nullable;

/**
 * Pool of the buffers of TLS layers, each for one record. Connections that come and go, such as those of a flood, reuse
 * them instead of direct memory that only the garbage collector frees. Thread-safe.
 */
final class TlsBuffers {
    /** Bytes of a record with header, padding and tag: more than the JDK's engine ever wants. */
    static final int SIZE = 17 * 1024;

    /** Buffers that are kept when no connection uses them. */
    private static final int MAX_IDLE = 768;

    /** Buffers of all connections may use this part of the JVM's direct memory. */
    private static final int PART_OF_MEMORY = 4;

    private final int most;
    private final Deque<ByteBuffer> idle = new ArrayDeque<>();
    private int inUse;

    TlsBuffers() {
        this((int) Math.min(Integer.MAX_VALUE, DirectMemory.limitBytes() / PART_OF_MEMORY / SIZE));
    }

    /** @param most buffers in use at once */
    TlsBuffers(int most) { this.most = most; }

    /**
     * Takes empty buffers: their positions and limits are 0.
     *
     * @throws IOException if their memory would exceed the limit; then none is taken
     */
    ByteBuffer[] take(int count) throws IOException {
        var taken = new ByteBuffer[count];
        reserve(taken);
        try {
            for (int i = 0; i < count; i++) { // those that are new, without delaying others
                taken[i] = (taken[i] == null ? ByteBuffer.allocateDirect(SIZE) : taken[i]).clear()
                        .limit(0);
            }
            return taken;
        } catch (OutOfMemoryError e) {
            giveBack(taken);
            throw new IOException(exhausted(), e);
        }
    }

    private synchronized void reserve(@Nullable ByteBuffer[] taken) throws IOException {
        if (inUse + taken.length > most) {
            throw new IOException(exhausted());
        }
        inUse += taken.length;
        for (int i = 0; i < taken.length; i++) {
            taken[i] = idle.poll();
        }
    }

    private synchronized void giveBack(@Nullable ByteBuffer[] taken) {
        inUse -= taken.length;
        for (ByteBuffer buffer : taken) {
            if (buffer != null && idle.size() < MAX_IDLE) {
                idle.push(buffer);
            }
        }
    }

    private String exhausted() {
        return "no memory for another TLS connection: the limit is " + most * (SIZE / 1024)
                + " KiB; raise -XX:MaxDirectMemorySize";
    }

    synchronized void give(ByteBuffer buffer) {
        inUse--;
        assert inUse >= 0 : "buffer released twice";
        if (idle.size() < MAX_IDLE) {
            idle.push(buffer);
        }
    }

    /** For tests: buffers taken and not given back. */
    synchronized int inUse() { return inUse; }
}
