package lunar.block;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.WritableByteChannel;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/**
 * A device with randomly accessible blocks of equal size: memory, a file, a disk, a LUN on a target, a RAID volume, or
 * a filter over any of these.
 *
 * <p><b>Two primitives.</b> {@link #execute} performs a request on the calling thread and returns when it is done;
 * {@link #submit} queues it and returns without waiting for the medium, and the completion of the request receives the
 * result. All other I/O methods are conveniences over these two. Requests in flight at once are unordered; a caller
 * that needs an order waits for the first before it submits the second.
 *
 * <p><b>Durability.</b> A completed write may be in a volatile cache. It is on stable storage once a flush
 * submitted after its completion has completed, or if it carried FUA. A read after a completed write returns what
 * was written. A failed write leaves each of its blocks old, new or unreadable, never mixed within a physical
 * block.
 *
 * <p><b>Threads.</b> All methods may be called by any thread at any time. After {@link #close} every request fails
 * with {@link DeviceGoneException}; requests in flight complete or fail before close returns.
 *
 * <p><b>Interrupts.</b> An interrupt does not end a request that the medium may have begun: its buffer is in use, and
 * its outcome would be unknown. The thread remains interrupted. Filters that delay requests end one that they have not
 * passed on yet with {@link AbortedException}.
 *
 * <p><b>Implementations</b> validate and complete requests by {@link lunar.block.spi.RequestValidation} and
 * {@link lunar.block.spi.RequestCompletion}. The tests of {@code BlockDeviceContract} in lunar-testkit check this
 * contract.
 */
public interface BlockDevice extends AutoCloseable {
    /** Returns block size and block count. The count may change between calls, when a LUN or a file is resized. */
    Geometry geometry();

    /** Returns the largest and the optimal sizes of requests. */
    Limits limits();

    /** Returns the capabilities beyond read, write and flush, as an immutable set. */
    Set<Capability> capabilities();

    /** Returns the identity, which is unique to this device and the same over every path to it. */
    Identity identity();

    /** Returns the labels stored with the data; empty if the device has no place for them. */
    default Optional<DeviceLabels> labels() {
        return Optional.empty();
    }

    /** Whether the device refuses every change with {@link WriteProtectedException}. */
    boolean readOnly();

    /**
     * Returns a value that changes when the device may have lost writes that it had acknowledged, as by the loss of a
     * volatile cache. It outlives processes and sessions. Empty if the device cannot detect such losses.
     */
    default Optional<UUID> writeVerifier() { return Optional.empty(); }

    /**
     * Returns how many times the open device may have lost writes that it had acknowledged. The counter never
     * decreases while the device is open, not even when the device grows or the devices below it change; callers
     * compare it with an earlier value. It has increased before a request completes that may have found such blocks,
     * and the next flush fails with {@link LostWritesException}. Cheap enough to be called for each request.
     */
    default long writeLosses() { return 0; }

    /**
     * Performs a request on the calling thread and returns when it is done. The completion of the request is not
     * called.
     *
     * @throws StorageException if the request fails
     */
    void execute(BlockRequest request) throws StorageException;

    /**
     * Queues a request. Its completion runs exactly once, on the calling thread before submit returns or on any other
     * one. Never throws: an invalid request completes with the failure.
     */
    void submit(BlockRequest request);

    /**
     * Returns the run of blocks, from {@code lba} on, that are either all allocated or all holes. This is a hint for
     * callers that skip holes: it may be outdated when it is returned, and a device that does not track allocation
     * returns that all blocks are allocated.
     *
     * @throws OutOfRangeException if {@code lba} is not on the device
     */
    default Extent extent(long lba) throws StorageException {
        long blocks = blockCount();
        if (lba < 0 || lba >= blocks) {
            throw new OutOfRangeException("block " + lba + " on a device of " + blocks + " blocks");
        }
        return new Extent(lba, blocks - lba, true);
    }

    /** Returns how full the device is; empty if unknown. Cheap enough to be called after each write. */
    default Optional<Usage> usage() {
        return Optional.empty();
    }

    /**
     * Replaces the key under which the blocks are encrypted, and destroys the old one: data written before can never be
     * read again. The content of all blocks is undefined afterwards. The caller ensures that no other request is in
     * flight. Needs {@link Capability#KEY_ERASURE}. Waits for stable storage.
     */
    default void eraseKey() throws StorageException {
        throw new NotSupportedException("the device has no " + Capability.KEY_ERASURE);
    }

    /**
     * Queries the size of the medium, which another process may have changed; {@link #geometry} returns the new size
     * from then on. A size that the device cannot have is ignored. Cheap, but may wait for the medium.
     */
    default void refresh() throws StorageException {}

    /**
     * Enlarges the device. The new blocks read as blocks that were never written. Waits for the medium.
     *
     * @param blockCount the new number of blocks
     * @throws InvalidRequestException if the device has more blocks already
     * @throws NotSupportedException if the device cannot change its size, as a disk cannot
     */
    default void grow(long blockCount) throws StorageException {
        throw new NotSupportedException("the size of this device cannot be changed here");
    }

    /** Returns the means to keep other hosts from writing to the device; empty if it has none. */
    default Optional<Fencing> fencing() {
        return Optional.empty();
    }

    /**
     * Whether a compare-and-write is atomic with regard to all hosts that can write to the device, and not only to the
     * requests of this process. Meaningful with {@link Capability#COMPARE_AND_WRITE}.
     */
    default boolean comparesForAllHosts() { return false; }

    /**
     * Whether blocks read earlier may be served from a cache. False while another host may write to the device: then
     * reads must go to the device. Cheap: caches call it for each read.
     */
    default boolean isCurrent() { return true; }

    /** Drops cached copies of these blocks, because another host may have written them. */
    default void forget(long lba, long blockCount) {}

    /**
     * Closes the device and, for a filter or a volume, the devices below it. Waits for requests in flight. Idempotent.
     */
    @Override
    void close() throws StorageException;

    /** Returns the size of a logical block in bytes. */
    default int blockSize() {
        return geometry().blockSize();
    }

    /** Returns the number of logical blocks. */
    default long blockCount() {
        return geometry().blockCount();
    }

    /** Returns the size of the device in bytes. */
    default long sizeBytes() {
        return geometry().sizeBytes();
    }

    /** Whether the device has this capability. */
    default boolean supports(Capability capability) {
        return capabilities().contains(capability);
    }

    /** Reads as many blocks as the buffer holds, from block {@code lba}. */
    default void read(long lba, MemorySegment buffer) throws StorageException {
        execute(new BlockRequest().asRead(lba, wholeBlocks(buffer), buffer));
    }

    /** Writes the buffer from block {@code lba} on. */
    default void write(long lba, MemorySegment buffer) throws StorageException {
        execute(new BlockRequest().asWrite(lba, wholeBlocks(buffer), buffer, false));
    }

    /** Writes the buffer from block {@code lba} on; the data is on stable storage when the call returns. */
    default void writeThrough(long lba, MemorySegment buffer) throws StorageException {
        execute(new BlockRequest().asWrite(lba, wholeBlocks(buffer), buffer, true));
    }

    /**
     * Brings every completed write to stable storage.
     *
     * @throws LostWritesException if a write that was acknowledged since the last successful flush may be lost; the
     *         next flush may succeed without restoring it, or fail too
     */
    default void flush() throws StorageException { execute(new BlockRequest().asFlush()); }

    /**
     * Deallocates blocks, as far as the device can. Each of them reads as before or as zeroes afterwards; with
     * {@link Capability#UNMAP_ZEROES} all of them read as zeroes. Needs {@link Capability#UNMAP}.
     */
    default void unmap(long lba, long blockCount) throws StorageException {
        execute(new BlockRequest().asUnmap(lba, blockCount));
    }

    /** Writes zeroes. Needs {@link Capability#WRITE_ZEROES}. */
    default void writeZeroes(long lba, long blockCount) throws StorageException {
        execute(new BlockRequest().asWriteZeroes(lba, blockCount, false));
    }

    /**
     * Compares blocks with the first half of the buffer and, if they are equal, writes its second half; atomic with
     * regard to every other request. Needs {@link Capability#COMPARE_AND_WRITE}.
     *
     * @throws MiscompareException if the blocks differ; it has the offset of the first difference
     */
    default void compareAndWrite(long lba, MemorySegment compareThenWrite) throws StorageException {
        execute(new BlockRequest().asCompareAndWrite(lba, wholeBlocks(compareThenWrite) / 2,
                compareThenWrite, false));
    }

    /** Queues a {@link #read}. The buffer belongs to the device until the future completes. */
    default CompletableFuture<Void> submitRead(long lba, MemorySegment buffer) {
        return submitFuture(
                new BlockRequest().asRead(lba, buffer.byteSize() / blockSize(), buffer));
    }

    /** Queues a {@link #write}. The buffer belongs to the device until the future completes. */
    default CompletableFuture<Void> submitWrite(long lba, MemorySegment buffer) {
        return submitFuture(
                new BlockRequest().asWrite(lba, buffer.byteSize() / blockSize(), buffer, false));
    }

    /** Queues a {@link #flush}. */
    default CompletableFuture<Void> submitFlush() {
        return submitFuture(new BlockRequest().asFlush());
    }

    /**
     * Queues a prepared request, whose completion it replaces.
     *
     * @return completes with the request; fails with its StorageException
     */
    default CompletableFuture<Void> submitFuture(BlockRequest request) {
        var future = new CompletableFuture<Void>();
        submit(request.onCompletion((_, failure) -> {
            if (failure == null) {
                future.complete(null);
            } else {
                future.completeExceptionally(failure);
            }
        }));
        return future;
    }

    /**
     * Transfers bytes to a channel without a copy through a buffer, from the page cache for instance. Blocks until the
     * channel has accepted them; a non-blocking channel may accept fewer. Needs {@link Capability#TRANSFER_TO}.
     *
     * @param offsetBytes first byte, at any offset on the device
     * @param countBytes number of bytes
     * @return number of bytes that the channel accepted
     * @throws StorageException if the device fails; the channel throws any other IOException
     */
    default long transferTo(long offsetBytes, long countBytes, WritableByteChannel channel)
            throws IOException {
        throw new NotSupportedException("the device has no " + Capability.TRANSFER_TO);
    }

    /**
     * Whether to send these bytes by {@link #transferTo} rather than to read them: the device was opened for that, and
     * can send them without waiting for the medium. A hint that may be outdated when it is returned. Cheap.
     */
    default boolean prefersTransfer(long offsetBytes, long countBytes) { return false; }

    private long wholeBlocks(MemorySegment buffer) throws InvalidRequestException {
        long bytes = buffer.byteSize();
        if (bytes % blockSize() != 0) {
            throw new InvalidRequestException(
                    "a buffer of " + bytes + " bytes is not a whole number of blocks of "
                            + blockSize());
        }
        return bytes / blockSize();
    }
}
