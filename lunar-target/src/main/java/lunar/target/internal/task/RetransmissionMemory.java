package lunar.target.internal.task;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts what all connections of a server keep for retransmission, so that initiators that acknowledge nothing cannot
 * use up the memory of the others. A connection that exceeds a limit drops what it keeps itself. Thread-safe.
 */
public final class RetransmissionMemory {
    /** Limit of the heap that is used, whatever its size. */
    private static final long MAX_HEAP_BYTES = 64 << 20;

    /** Divisor of the maximum heap size, if less. */
    private static final int HEAP_SHARE = 16;

    /** Divisor of the memory pool of commands for the part that responses may hold. */
    private static final int POOL_SHARE = 8;

    private final long maxHeapBytes;
    private final long maxBufferBytes;
    private final AtomicLong heapBytes = new AtomicLong();
    private final AtomicLong bufferBytes = new AtomicLong();

    /**
     * @param maxHeapBytes limit of PDUs on the heap
     * @param maxBufferBytes limit of the buffers of commands
     */
    RetransmissionMemory(long maxHeapBytes, long maxBufferBytes) {
        this.maxHeapBytes = maxHeapBytes;
        this.maxBufferBytes = maxBufferBytes;
    }

    /** @param poolBytes limit of the memory pool of all commands */
    public static RetransmissionMemory of(long poolBytes) {
        return new RetransmissionMemory(
                Math.min(MAX_HEAP_BYTES, Runtime.getRuntime().maxMemory() / HEAP_SHARE),
                poolBytes / POOL_SHARE);
    }

    /** Adds to the size of PDUs; a negative number subtracts. */
    void addHeap(long bytes) {
        heapBytes.addAndGet(bytes);
    }

    /** Adds to the size of buffers; a negative number subtracts. */
    void addBuffers(long bytes) {
        bufferBytes.addAndGet(bytes);
    }

    boolean isHeapExceeded() { return heapBytes.get() > maxHeapBytes; }

    boolean areBuffersExceeded() { return bufferBytes.get() > maxBufferBytes; }

    long heapBytes() { return heapBytes.get(); }

    long bufferBytes() { return bufferBytes.get(); }
}
