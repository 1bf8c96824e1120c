package lunar.block;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * An operation on a device. Requests are reusable: an {@code as…} method prepares one, a device runs it, the
 * completion gives it back; a caller with a pool of them allocates nothing per operation.
 *
 * <p>Ownership: from {@link BlockDevice#submit} until its completion runs, request and buffer belong to the
 * device; the owner neither touches nor frees them. Buffers may be native or heap segments; native ones aligned
 * to {@link Limits#bufferAlignmentBytes()} spare a copy. A submitted request may run on another thread: its
 * buffer must not come from a confined arena.
 */
public final class BlockRequest {
    /** The kind of operation that a request asks for. */
    public enum Operation {
        /** Fill the buffer from {@code lba}. */
        READ,
        /** Write the buffer at {@code lba}. */
        WRITE,
        /** Make all completed writes stable. */
        FLUSH,
        /** Deallocate a range, which reads as zeroes afterwards with {@link Capability#UNMAP_ZEROES} only. */
        UNMAP,
        /** Write zeroes without carrying them. */
        WRITE_ZEROES,
        /** The buffer's first half is compared with the blocks; if equal its second half is written, atomically. */
        COMPARE_AND_WRITE
    }

    /** Told when a request has ended; may run on any thread, and must neither block nor throw. */
    @FunctionalInterface
    public interface Completion {
        /** @param failure null where the request succeeded */
        void completed(BlockRequest request, @Nullable StorageException failure);
    }

    private static final System.Logger LOG = System.getLogger("lunar.block");
    private static final Completion NOBODY = (_, _) -> {};

    private Operation operation = Operation.FLUSH;
    private long lba;
    private long blockCount;
    private MemorySegment buffer = MemorySegment.NULL;
    private boolean fua;
    private boolean atomic;
    private Completion completion = NOBODY;

    /** A new request; prepare it with one of the {@code as…} methods. */
    public BlockRequest() {}

    /** Prepares a read of {@code blockCount} blocks into {@code buffer}, which holds exactly these. */
    public BlockRequest asRead(long lba, long blockCount, MemorySegment buffer) {
        return set(Operation.READ, lba, blockCount, buffer, false);
    }

    /** Prepares a write; with {@code fua} it is on stable storage before it completes. */
    public BlockRequest asWrite(long lba, long blockCount, MemorySegment buffer, boolean fua) {
        return set(Operation.WRITE, lba, blockCount, buffer, fua);
    }

    /**
     * Prepares a write that is seen whole or not at all: by a read of the whole range, and after a crash or a
     * loss of power. Needs {@link Capability#ATOMIC_WRITE}; of up to {@link Limits#maxAtomicWriteBlocks()}.
     */
    public BlockRequest asAtomicWrite(long lba, long blockCount, MemorySegment buffer,
            boolean fua) {
        set(Operation.WRITE, lba, blockCount, buffer, fua);
        atomic = true;
        return this;
    }

    /** Prepares a flush: every write completed before it is stable once it completes. */
    public BlockRequest asFlush() {
        return set(Operation.FLUSH, 0, 0, MemorySegment.NULL, false);
    }

    /** Prepares an unmap. */
    public BlockRequest asUnmap(long lba, long blockCount) {
        return set(Operation.UNMAP, lba, blockCount, MemorySegment.NULL, false);
    }

    /** Prepares a write of zeroes. */
    public BlockRequest asWriteZeroes(long lba, long blockCount, boolean fua) {
        return set(Operation.WRITE_ZEROES, lba, blockCount, MemorySegment.NULL, fua);
    }

    /**
     * Prepares a compare-and-write of {@code blockCount} blocks.
     *
     * @param buffer twice {@code blockCount} blocks: what must be there, then what is written (SBC-4 COMPARE AND
     *        WRITE). A difference fails with {@link MiscompareException}.
     */
    public BlockRequest asCompareAndWrite(long lba, long blockCount, MemorySegment buffer,
            boolean fua) {
        return set(Operation.COMPARE_AND_WRITE, lba, blockCount, buffer, fua);
    }

    /** Prepares the same operation as another request, over the same buffer. */
    public BlockRequest asCopyOf(BlockRequest other) {
        return asCopyOf(other, other.buffer);
    }

    /** Prepares the same operation as another request, over another buffer of the same size. */
    public BlockRequest asCopyOf(BlockRequest other, MemorySegment buffer) {
        set(other.operation, other.lba, other.blockCount, buffer, other.fua);
        atomic = other.atomic;
        return this;
    }

    /** Sets the completion that is called when the submitted request has ended. */
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

    public Operation operation() { return operation; }

    /** First logical block. */
    public long lba() { return lba; }

    /** Logical blocks touched. */
    public long blockCount() { return blockCount; }

    /** Data in or out; {@link MemorySegment#NULL} for operations without. */
    public MemorySegment buffer() {
        return buffer;
    }

    /** Whether the data must be stable before the request completes. */
    public boolean fua() {
        return fua;
    }

    /** Whether a write must be seen whole or not at all. */
    public boolean atomic() {
        return atomic;
    }

    /** For devices: the submitted request has succeeded. */
    public void succeed() { end(null); }

    /** For devices: the submitted request has failed. */
    public void fail(StorageException failure) {
        end(failure);
    }

    /**
     * For devices: the submitted request has ended.
     *
     * @param failure null where it has succeeded
     */
    public void end(@Nullable StorageException failure) { completion.completed(this, failure); }

    /**
     * For devices: like {@link #end}, where others wait for this thread. A completion must not throw; if it does, that
     * is logged, and the others do not suffer for it.
     */
    public void endGuarded(@Nullable StorageException failure) {
        try {
            completion.completed(this, failure);
        } catch (RuntimeException | Error e) {
            LOG.log(System.Logger.Level.ERROR, "the completion of " + this + " has failed", e);
        }
    }

    /**
     * For devices: executes the request on this thread and tells its completion. A buffer that this thread may
     * not use, because its arena is closed or confined to another thread, is the caller's failure.
     */
    public void completeOn(BlockDevice device) {
        StorageException failure = null;
        try {
            device.execute(this);
        } catch (StorageException e) {
            failure = e;
        } catch (IllegalStateException | WrongThreadException e) {
            failure = new InvalidRequestException(
                    this + ": the buffer cannot be used: " + e.getMessage(), e);
        } catch (RuntimeException | OutOfMemoryError e) { // the waiting caller must be told, whatever it is
            failure = new BusyException(this + ": internal error of the device: " + e, e);
        }
        completion.completed(this, failure);
    }

    /**
     * For devices: checks the request against geometry, limits, capabilities and buffer.
     *
     * @throws OutOfRangeException when the range is not on the device
     * @throws InvalidRequestException when a limit is broken, or the buffer has another size or takes no data
     * @throws NotSupportedException when the device lacks the capability
     * @throws WriteProtectedException when the device is read-only and the request is neither read nor flush
     */
    public void check(BlockDevice device) throws StorageException {
        if (operation == Operation.FLUSH) {
            return;
        }
        Geometry geometry = device.geometry();
        if (lba < 0 || blockCount < 0 || lba > geometry.blockCount()
                || blockCount > geometry.blockCount() - lba) {
            throw new OutOfRangeException(
                    this + " on a device of " + geometry.blockCount() + " blocks");
        }
        Limits limits = device.limits();
        long max = switch (operation) {
            case READ, WRITE -> atomic
                    ? required(device, Capability.ATOMIC_WRITE, limits.maxAtomicWriteBlocks())
                    : limits.maxTransferBlocks();
            case UNMAP -> required(device, Capability.UNMAP, limits.maxUnmapBlocks());
            case WRITE_ZEROES ->
                required(device, Capability.WRITE_ZEROES, limits.maxWriteZeroesBlocks());
            case COMPARE_AND_WRITE ->
                required(device, Capability.COMPARE_AND_WRITE, limits.maxCompareAndWriteBlocks());
            case FLUSH -> 0;
        };
        if (blockCount > max) {
            throw new InvalidRequestException(
                    this + " is longer than the limit of " + max + " blocks");
        }
        long bytes = switch (operation) {
            case READ, WRITE -> blockCount * geometry.blockSize();
            case COMPARE_AND_WRITE -> 2 * blockCount * geometry.blockSize();
            case FLUSH, UNMAP, WRITE_ZEROES -> 0;
        };
        if (buffer.byteSize() != bytes) {
            throw new InvalidRequestException(
                    this + " needs a buffer of " + bytes + " bytes, not " + buffer.byteSize());
        }
        if (operation == Operation.READ && buffer.isReadOnly()) {
            throw new InvalidRequestException(this + " cannot fill a read-only buffer");
        }
        if (operation != Operation.READ && device.readOnly()) {
            throw new WriteProtectedException(this + ": the device is read-only");
        }
    }

    private long required(BlockDevice device, Capability capability, long limit)
            throws NotSupportedException {
        if (!device.supports(capability)) {
            throw new NotSupportedException(this + ": the device has no " + capability);
        }
        return limit;
    }

    @Override
    public String toString() {
        return operation == Operation.FLUSH
                ? "FLUSH"
                : operation + " lba=" + lba + " blocks=" + blockCount + (fua ? " FUA" : "")
                        + (atomic ? " ATOMIC" : "");
    }
}
