package lunar.block;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A request for an operation on a device. An {@code as…} method prepares it; {@link BlockDevice#execute} or
 * {@link BlockDevice#submit} performs it. Requests are reusable: a caller that keeps a pool of them allocates nothing
 * per operation.
 *
 * <p><b>Ownership.</b> From {@link BlockDevice#submit} until the completion runs, request and buffer belong to the
 * device, during {@link BlockDevice#execute} too; the caller neither changes nor frees them. Buffers may be native or
 * heap segments; a native one that is aligned to {@link Limits#bufferAlignmentBytes()} avoids a copy. A submitted
 * request may run on another thread, so its buffer must not be confined to one.
 *
 * <p><b>Threads.</b> A request is not thread-safe. It belongs to one thread until it is submitted, and to the thread
 * of the completion afterwards.
 *
 * <p>A device validates and completes requests by means of {@link lunar.block.spi.RequestValidation} and
 * {@link lunar.block.spi.RequestCompletion}.
 */
public final class BlockRequest {
    /** The operation of a request. */
    public enum Operation {
        /** Read blocks into the buffer. */
        READ,
        /** Write blocks from the buffer. */
        WRITE,
        /** Bring all completed writes to stable storage. */
        FLUSH,
        /** Deallocate blocks, which read as zeroes afterwards only with {@link Capability#UNMAP_ZEROES}. */
        UNMAP,
        /** Write zeroes, without a buffer. */
        WRITE_ZEROES,
        /** Compare blocks with the first half of the buffer and, if they are equal, write the second, atomically. */
        COMPARE_AND_WRITE
    }

    /**
     * Receives the result of a submitted request. Runs once per submission, on the thread that submits before
     * {@link BlockDevice#submit} returns or on any other one, and must neither block nor throw. The request may be
     * prepared and submitted again from here.
     */
    @FunctionalInterface
    public interface Completion {
        /**
         * Called when the request has completed.
         *
         * @param failure null if it succeeded: not an Optional, which each request would allocate
         */
        void completed(BlockRequest request, @Nullable StorageException failure);
    }

    private static final Completion NONE = (_, _) -> {};

    private Operation operation = Operation.FLUSH;
    private long lba;
    private long blockCount;
    private MemorySegment buffer = MemorySegment.NULL;
    private boolean fua;
    private boolean atomic;
    private Completion completion = NONE;

    /** Creates a request for a flush. */
    public BlockRequest() {}

    /**
     * Prepares a read.
     *
     * @param buffer holds exactly {@code blockCount} blocks
     */
    public BlockRequest asRead(long lba, long blockCount, MemorySegment buffer) {
        return set(Operation.READ, lba, blockCount, buffer, false);
    }

    /**
     * Prepares a write.
     *
     * @param buffer holds exactly {@code blockCount} blocks
     * @param fua force unit access: the data is on stable storage before the write completes
     */
    public BlockRequest asWrite(long lba, long blockCount, MemorySegment buffer, boolean fua) {
        return set(Operation.WRITE, lba, blockCount, buffer, fua);
    }

    /**
     * Prepares an atomic write: a read of the whole range, and a crash or a loss of power, find all of it or nothing.
     * Needs {@link Capability#ATOMIC_WRITE}.
     *
     * @param blockCount at most {@link Limits#maxAtomicWriteBlocks()}
     */
    public BlockRequest asAtomicWrite(long lba, long blockCount, MemorySegment buffer,
            boolean fua) {
        set(Operation.WRITE, lba, blockCount, buffer, fua);
        atomic = true;
        return this;
    }

    /** Prepares a flush: every write that completed before it is on stable storage when it completes. */
    public BlockRequest asFlush() {
        return set(Operation.FLUSH, 0, 0, MemorySegment.NULL, false);
    }

    /** Prepares an unmap. Needs {@link Capability#UNMAP}. */
    public BlockRequest asUnmap(long lba, long blockCount) {
        return set(Operation.UNMAP, lba, blockCount, MemorySegment.NULL, false);
    }

    /** Prepares a write of zeroes. Needs {@link Capability#WRITE_ZEROES}. */
    public BlockRequest asWriteZeroes(long lba, long blockCount, boolean fua) {
        return set(Operation.WRITE_ZEROES, lba, blockCount, MemorySegment.NULL, fua);
    }

    /**
     * Prepares a compare-and-write (SBC-4 COMPARE AND WRITE), which fails with {@link MiscompareException} if the
     * blocks differ. Needs {@link Capability#COMPARE_AND_WRITE}.
     *
     * @param buffer holds twice {@code blockCount} blocks: the expected ones, then those to write
     */
    public BlockRequest asCompareAndWrite(long lba, long blockCount, MemorySegment buffer,
            boolean fua) {
        return set(Operation.COMPARE_AND_WRITE, lba, blockCount, buffer, fua);
    }

    /** Prepares the operation of another request, with its buffer and without its completion. */
    public BlockRequest asCopyOf(BlockRequest other) {
        return asCopyOf(other, other.buffer);
    }

    /** Prepares the operation of another request with another buffer of the same size, without its completion. */
    public BlockRequest asCopyOf(BlockRequest other, MemorySegment buffer) {
        set(other.operation, other.lba, other.blockCount, buffer, other.fua);
        atomic = other.atomic;
        return this;
    }

    /** Sets the completion that {@link BlockDevice#submit} calls; it stays set when the request is prepared again. */
    public BlockRequest onCompletion(Completion completion) {
        this.completion = completion;
        return this;
    }

    private BlockRequest set(Operation operation, long lba, long blockCount, MemorySegment buffer,
            boolean fua) {
        this.operation = operation;
        this.lba = lba;
        this.blockCount = blockCount;
        this.buffer = buffer;
        this.fua = fua;
        atomic = false;
        return this;
    }

    /** The prepared operation. */
    public Operation operation() { return operation; }

    /** First logical block; 0 for a flush. */
    public long lba() { return lba; }

    /** Number of logical blocks; 0 for a flush. */
    public long blockCount() { return blockCount; }

    /** Data to read into or to write from; {@link MemorySegment#NULL} for operations without data. */
    public MemorySegment buffer() {
        return buffer;
    }

    /** Whether the data must be on stable storage before the request completes. */
    public boolean fua() {
        return fua;
    }

    /** Whether this is an atomic write. */
    public boolean atomic() { return atomic; }

    /** Receives the result of the submitted request. Devices call it through {@code RequestCompletion}. */
    public Completion completion() {
        return completion;
    }

    @Override
    public String toString() {
        return operation == Operation.FLUSH
                ? "FLUSH"
                : operation + " lba=" + lba + " blocks=" + blockCount + (fua ? " FUA" : "")
                        + (atomic ? " ATOMIC" : "");
    }
}
