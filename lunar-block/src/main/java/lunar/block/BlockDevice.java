package lunar.block;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.WritableByteChannel;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/**
 * A device of equal blocks that are read and written at random: memory, a file, a disk, a LUN on a target, a
 * RAID volume, a filter over any of these.
 *
 * <p><b>Two forms.</b> {@link #execute} runs a request on the calling thread and returns when it is done;
 * {@link #submit} queues it, returns without waiting for the medium, and the request's completion tells the end.
 * Everything else is convenience over these two. Requests in flight at once are unordered; a caller that needs an order
 * waits for the first before it submits the second.
 *
 * <p><b>Durability.</b> A completed write may be in a volatile cache. It is on stable storage once a flush
 * submitted after its completion has completed, or if it carried FUA. A read after a completed write returns what
 * was written. A failed write leaves each of its blocks old, new or unreadable, never mixed within a physical
 * block.
 *
 * <p><b>Threads.</b> All methods may be called by any thread at any time. After {@link #close} every call fails
 * with {@link DeviceGoneException}; requests in flight end, one way or the other, before close returns.
 *
 * <p>The contract is executable: {@code BlockDeviceContract} in lunar-testkit runs on every implementation.
 */
public interface BlockDevice extends AutoCloseable {
    /** Block size and count. May change while in use (a LUN resized on its array); never during a call. */
    Geometry geometry();

    /** Largest and best requests. */
    Limits limits();

    /** Returns what the device can do beyond read, write and flush. Immutable. */
    Set<Capability> capabilities();

    /** Which device this is: no other device has this identity, and this device has no other. */
    Identity identity();

    /** Labels that are kept with the data; empty where there is no such place. */
    default Optional<DeviceLabels> labels() {
        return Optional.empty();
    }

    /** Whether every change is refused with {@link WriteProtectedException}. */
    boolean readOnly();

    /**
     * A value that stays the same as long as the device loses no write that it acknowledged, over the end of processes
     * and sessions too. It changes with the loss of a volatile cache. Empty where the device cannot tell.
     */
    default Optional<UUID> writeVerifier() { return Optional.empty(); }

    /**
     * How often the device, while it was open, may have lost writes that it had acknowledged. A request that meets
     * blocks without them ends after this has grown; the next flush fails with {@link LostWritesException}. It never
     * falls while the device is open, also when the device grows or what is below it changes: callers compare it with
     * what they knew before. Cheap enough to be asked for each request.
     */
    default long writeLosses() { return 0; }

    /**
     * Runs a request on the calling thread; its completion is not called.
     *
     * @throws StorageException the sealed family of things that go wrong with storage
     */
    void execute(BlockRequest request) throws StorageException;

    /**
     * Queues a request. Its completion runs exactly once, on this thread before submit returns or on one of the
     * device's threads. Never throws: a request that breaks a rule completes with the failure.
     */
    void submit(BlockRequest request);

    /**
     * The run of blocks from {@code lba} on that are all allocated, or all holes. A hint for callers that skip
     * holes: it may be out of date when it arrives, and a device that does not know says that all is allocated.
     *
     * @throws OutOfRangeException when {@code lba} is not on the device
     */
    default Extent extent(long lba) throws StorageException {
        long blocks = blockCount();
        if (lba < 0 || lba >= blocks) {
            throw new OutOfRangeException("block " + lba + " on a device of " + blocks + " blocks");
        }
        return new Extent(lba, blocks - lba, true);
    }

    /**
     * How full the device is, where it knows. Cheap: it may be asked after every write.
     */
    default Optional<Usage> usage() { return Optional.empty(); }

    /**
     * Destroys the key under which the blocks are encrypted and takes a new one: what was written before can never be
     * read again. Blocks read as anything afterwards. The caller sees to it that no other request is in flight. Needs
     * {@link Capability#KEY_ERASURE}. Blocks for the time of a write to stable storage.
     */
    default void eraseKey() throws StorageException {
        throw new NotSupportedException("the device has no " + Capability.KEY_ERASURE);
    }

    /**
     * Checks whether the medium has become larger or smaller, as a file or a disk may when another process changes it:
     * {@link #geometry} returns the new size from then on. A size that cannot be served leaves everything as it was.
     * Cheap, but it asks the medium, so it may block.
     */
    default void refresh() throws StorageException {}

    /**
     * Makes the device larger; the new blocks read as blocks that were never written. Blocks.
     *
     * @param blockCount blocks from then on
     * @throws InvalidRequestException when it has more already
     * @throws NotSupportedException when its size is not its own to change, as that of a disk
     */
    default void grow(long blockCount) throws StorageException {
        throw new NotSupportedException("the size of this device cannot be changed here");
    }

    /** How other hosts are kept from writing to the device; empty where it has no means to. */
    default Optional<Fencing> fencing() {
        return Optional.empty();
    }

    /**
     * Whether what was read from the device earlier may be answered from memory. False while another
     * writer cannot be ruled out: then only a request to the device tells. Cheap: called for each such answer.
     */
    default boolean isCurrent() { return true; }

    /** Drops what it keeps of these blocks in memory, since another host may have written them. */
    default void forget(long lba, long blockCount) {}

    /** Releases the device and, for filters and volumes, what it stands on. Idempotent. */
    @Override
    void close() throws StorageException;

    /** Bytes of a logical block. */
    default int blockSize() { return geometry().blockSize(); }

    /** Logical blocks of the device. */
    default long blockCount() {
        return geometry().blockCount();
    }

    /** Bytes of the device. */
    default long sizeBytes() { return geometry().sizeBytes(); }

    /** Whether the device has this capability. */
    default boolean supports(Capability capability) {
        return capabilities().contains(capability);
    }

    /** Reads as many blocks as the buffer holds, from block {@code lba}. */
    default void read(long lba, MemorySegment buffer) throws StorageException {
        execute(new BlockRequest().asRead(lba, wholeBlocks(buffer), buffer));
    }

    /** Writes the buffer at block {@code lba}. */
    default void write(long lba, MemorySegment buffer) throws StorageException {
        execute(new BlockRequest().asWrite(lba, wholeBlocks(buffer), buffer, false));
    }

    /** Writes the buffer at block {@code lba}; it is on stable storage when the call returns. */
    default void writeThrough(long lba, MemorySegment buffer) throws StorageException {
        execute(new BlockRequest().asWrite(lba, wholeBlocks(buffer), buffer, true));
    }

    /**
     * Makes every completed write stable.
     *
     * @throws LostWritesException when a write that was acknowledged since the last successful flush may be lost; the
     *         next flush may succeed without bringing it back, or fail too
     */
    default void flush() throws StorageException { execute(new BlockRequest().asFlush()); }

    /**
     * Deallocates blocks, as far as the device can. Each reads as before or as zeroes afterwards, and all of them read
     * as zeroes where the device has {@link Capability#UNMAP_ZEROES}. Needs {@link Capability#UNMAP}.
     */
    default void unmap(long lba, long blockCount) throws StorageException {
        execute(new BlockRequest().asUnmap(lba, blockCount));
    }

    /** Writes zeroes. Needs {@link Capability#WRITE_ZEROES}. */
    default void writeZeroes(long lba, long blockCount) throws StorageException {
        execute(new BlockRequest().asWriteZeroes(lba, blockCount, false));
    }

    /**
     * Writes the second half of the buffer if the blocks equal its first half, atomically with regard to every
     * other request. Needs {@link Capability#COMPARE_AND_WRITE}.
     *
     * @throws MiscompareException when they differ; it names the first byte that does
     */
    default void compareAndWrite(long lba, MemorySegment compareThenWrite) throws StorageException {
        execute(new BlockRequest().asCompareAndWrite(lba, wholeBlocks(compareThenWrite) / 2,
                compareThenWrite, false));
    }

    /** {@link #read} in the queued form. The buffer belongs to the device until the future ends. */
    default CompletableFuture<Void> submitRead(long lba, MemorySegment buffer) {
        return submitFuture(
                new BlockRequest().asRead(lba, buffer.byteSize() / blockSize(), buffer));
    }

    /** {@link #write} in the queued form. The buffer belongs to the device until the future ends. */
    default CompletableFuture<Void> submitWrite(long lba, MemorySegment buffer) {
        return submitFuture(
                new BlockRequest().asWrite(lba, buffer.byteSize() / blockSize(), buffer, false));
    }

    /** {@link #flush} in the queued form. */
    default CompletableFuture<Void> submitFlush() {
        return submitFuture(new BlockRequest().asFlush());
    }

    /** Queues any prepared request and returns its end as a future, which fails with a StorageException. */
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
     * Sends blocks to a channel; with {@link Capability#TRANSFER_TO} from the page cache without a copy. Blocks
     * until the channel has taken what it wants: a non-blocking channel may take less.
     *
     * @param offsetBytes first byte, at any offset on the device
     * @param countBytes bytes to send
     * @return bytes the channel took
     * @throws StorageException when the device failed; any other IOException is the channel's
     */
    default long transferTo(long offsetBytes, long countBytes, WritableByteChannel channel)
            throws IOException {
        throw new NotSupportedException("the device has no " + Capability.TRANSFER_TO);
    }

    /**
     * Whether these bytes had better be sent by {@link #transferTo} than read: the device was opened to be used so, and
     * has them where that waits for nothing. Cheap; what it says is out of date at once, which costs time, not data.
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
