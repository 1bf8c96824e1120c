package lunar.store;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.StampedLock;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.DeviceLabels;
import lunar.block.Extent;
import lunar.block.Geometry;
import lunar.block.Identity;
import lunar.block.InvalidRequestException;
import lunar.block.Limits;
import lunar.block.MiscompareException;
import lunar.block.OutOfRangeException;
import lunar.block.Size;
import lunar.block.StorageException;
import lunar.block.Usage;
import lunar.block.spi.RequestCompletion;
import lunar.block.spi.RequestValidation;

/**
 * Blocks in native memory, {@code ram:1GiB}. Memory is allocated when a block is first written, in chunks of 256 KiB,
 * so a device may be much larger than the machine's memory. It is not limited by JVM options, but by an option of the
 * device, {@code ram:1GiB?max=64MiB}. At that limit, or if the system has no more memory, a write fails with
 * {@link lunar.block.NoSpaceException}; if Linux overcommits, it kills the process instead, so the written data must
 * fit. Every device has a random identity, because its content is lost with the process.
 *
 * <p>Each chunk belongs to one of a number of striped locks, shared by readers and exclusive to a writer. Reads, writes
 * and compare-and-writes lock all their chunks at once, so each is atomic; an unmap of several chunks is not.
 */
public final class MemoryDevice implements BlockDevice {
    /** Largest device, so that its directory of chunks stays small. */
    public static final long MAX_BYTES = 1L << 50;

    private static final int PHYSICAL_BLOCK_BYTES = 4096;
    private static final int MAX_TRANSFER_BYTES = 16 << 20;
    private static final int MAX_COMPARE_BYTES = 64 << 10;
    private static final int STRIPES = 256;
    private static final Set<Capability> CAPABILITIES = Set
            .copyOf(EnumSet.complementOf(EnumSet.of(Capability.KEY_ERASURE)));

    /** Replaced while all stripes are held exclusively, with what belongs to it. */
    private volatile Geometry geometry;
    private volatile Limits limits;
    private final Identity identity = Identity.of("memory", UUID.randomUUID());
    private final DeviceLabels labels = new MemoryLabels();
    private final long maxBytes;
    private final MemoryChunks chunks;
    private final StampedLock[] stripes;
    /** Shared by channels that are being fed from chunks, which must not be reused meanwhile. */
    private final StampedLock transfers = new StampedLock();
    /** Set while all stripes are held exclusively. */
    private volatile boolean closed;

    private MemoryDevice(Geometry geometry, long maxBytes) {
        this.geometry = geometry;
        limits = limits(geometry);
        this.maxBytes = maxBytes;
        this.chunks = new MemoryChunks(geometry.sizeBytes(), maxBytes);
        this.stripes = new StampedLock[STRIPES];
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new StampedLock();
        }
    }

    /**
     * A device of zeroes.
     *
     * @throws IllegalArgumentException if the size is 0, too large or no multiple of the block size
     */
    public static MemoryDevice create(long sizeBytes, int blockSize) {
        return create(sizeBytes, blockSize, MAX_BYTES);
    }

    /**
     * A device of zeroes that is full before all of it is written: a write that needs more memory than
     * {@code maxBytes} fails with {@link lunar.block.NoSpaceException}, until an unmap gives some back.
     *
     * @param maxBytes memory for blocks, of which whole chunks are used
     * @throws IllegalArgumentException if the size is as above, or the memory less than a chunk
     */
    public static MemoryDevice create(long sizeBytes, int blockSize, long maxBytes) {
        if (sizeBytes <= 0 || sizeBytes > MAX_BYTES || sizeBytes % blockSize != 0) {
            throw new IllegalArgumentException("a memory device of " + Size.format(sizeBytes)
                    + " is not possible: specify a multiple of " + blockSize + " bytes, at most "
                    + Size.format(MAX_BYTES));
        }
        if (maxBytes < MemoryChunks.CHUNK_BYTES) {
            throw new IllegalArgumentException(Size.format(maxBytes)
                    + " of memory are not enough: it is taken in chunks of "
                    + Size.format(MemoryChunks.CHUNK_BYTES));
        }
        return new MemoryDevice(
                new Geometry(blockSize, sizeBytes / blockSize, PHYSICAL_BLOCK_BYTES), maxBytes);
    }

    @Override
    public Geometry geometry() { return geometry; }

    @Override
    public Limits limits() { return limits; }

    private static Limits limits(Geometry of) {
        int transferBlocks = MAX_TRANSFER_BYTES / of.blockSize();
        return new Limits(transferBlocks, transferBlocks / 16, of.blockCount(), of.blockCount(),
                MAX_COMPARE_BYTES / of.blockSize(), transferBlocks, 64, 1);
    }

    @Override
    public Set<Capability> capabilities() { return CAPABILITIES; }

    @Override
    public Identity identity() { return identity; }

    /** {@inheritDoc} All data is lost with the process, even if flushed. */
    @Override
    public Optional<UUID> writeVerifier() { return Optional.of(identity.uuid()); }

    /** {@inheritDoc} They are gone with the memory. */
    @Override
    public Optional<DeviceLabels> labels() { return Optional.of(labels); }

    @Override
    public boolean readOnly() { return false; }

    /** {@inheritDoc} Memory belongs to this process. */
    @Override
    public boolean comparesForAllHosts() { return true; }

    /** Bytes of memory in use for blocks: whole chunks. */
    public long allocatedBytes() {
        return chunks.allocatedBytes();
    }

    /** Memory in use, and what is left to the limit, or to the last block. */
    @Override
    public Optional<Usage> usage() {
        long used = allocatedBytes();
        return Optional.of(new Usage(used,
                Math.max(0, Math.min(maxBytes, sizeBytes()) - used)));
    }

    @Override
    public void submit(BlockRequest request) {
        RequestCompletion.executeAndComplete(request, this);
    }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        requireOpen();
        RequestValidation.check(request, this);
        long at = request.lba() * geometry.blockSize();
        long bytes = request.blockCount() * geometry.blockSize();
        switch (request.operation()) {
            case READ -> read(at, bytes, request.buffer());
            case WRITE -> write(at, bytes, request.buffer());
            case FLUSH -> {
                // Memory is as stable as it will ever be.
            }
            case UNMAP, WRITE_ZEROES -> zero(at, bytes);
            case COMPARE_AND_WRITE -> compareAndWrite(at, bytes, request);
        }
    }

    private void read(long at, long bytes, MemorySegment buffer) throws StorageException {
        lock(at, bytes, false);
        try {
            requireOpen();
            for (long done = 0; done < bytes;) {
                long within = MemoryChunks.offsetOf(at + done);
                long count = Math.min(bytes - done, MemoryChunks.CHUNK_BYTES - within);
                MemorySegment chunk = chunks.find(MemoryChunks.indexOf(at + done));
                if (chunk == null) {
                    MemorySegment hole = count == bytes ? buffer : buffer.asSlice(done, count);
                    hole.fill((byte) 0);
                } else {
                    MemorySegment.copy(chunk, within, buffer, done, count);
                }
                done += count;
            }
        } finally {
            unlock(at, bytes, false);
        }
    }

    private void write(long at, long bytes, MemorySegment buffer) throws StorageException {
        if (bytes == 0) { // nothing is locked, so no chunk may be allocated
            return;
        }
        lock(at, bytes, true);
        try {
            requireOpen();
            chunks.obtainAll(at, bytes); // nothing is written if memory is short
            for (long done = 0; done < bytes;) {
                long within = MemoryChunks.offsetOf(at + done);
                long count = Math.min(bytes - done, MemoryChunks.CHUNK_BYTES - within);
                MemorySegment.copy(buffer, done, chunks.obtain(MemoryChunks.indexOf(at + done)),
                        within, count);
                done += count;
            }
        } finally {
            unlock(at, bytes, true);
        }
    }

    /** Locks all stripes of a range in order, so that a request is atomic. */
    private void lock(long at, long bytes, boolean exclusive) {
        if (bytes == 0) {
            return;
        }
        int first = stripeIndex(MemoryChunks.indexOf(at));
        int last = stripeIndex(MemoryChunks.indexOf(at + bytes - 1));
        if (first <= last) {
            lock(first, last, exclusive);
        } else { // the stripes of the range begin again at the first one
            lock(0, last, exclusive);
            lock(first, STRIPES - 1, exclusive);
        }
    }

    private void lock(int first, int last, boolean exclusive) {
        for (int i = first; i <= last; i++) {
            long _ = exclusive ? stripes[i].writeLock() : stripes[i].readLock();
        }
    }

    private void unlock(long at, long bytes, boolean exclusive) {
        if (bytes == 0) {
            return;
        }
        int first = stripeIndex(MemoryChunks.indexOf(at));
        int last = stripeIndex(MemoryChunks.indexOf(at + bytes - 1));
        for (int i = first;; i = i + 1 & STRIPES - 1) {
            boolean _ = exclusive ? stripes[i].tryUnlockWrite() : stripes[i].tryUnlockRead();
            if (i == last) {
                return;
            }
        }
    }

    private void zero(long at, long bytes) throws StorageException {
        for (long done = 0; done < bytes;) {
            long index = MemoryChunks.indexOf(at + done);
            long within = MemoryChunks.offsetOf(at + done);
            long count = Math.min(bytes - done, MemoryChunks.CHUNK_BYTES - within);
            if (chunks.isEmptyAround(index)) {
                // Skip unwritten parts of a large sparse device, one directory leaf at a time.
                count = Math.min(bytes - done, MemoryChunks.bytesToNextLeaf(at + done));
            } else {
                zeroWithinChunk(index, within, count);
            }
            done += count;
        }
    }

    private void zeroWithinChunk(long index, long within, long count) throws StorageException {
        StampedLock stripe = stripe(index);
        long stamp = stripe.writeLock();
        try {
            requireOpen();
            MemorySegment chunk = chunks.find(index);
            if (chunk == null) {
                return;
            }
            // A transfer that starts after this check finds the chunk removed: the stripe lock orders them.
            if (count == MemoryChunks.CHUNK_BYTES && !transfers.isReadLocked()) {
                chunks.release(index);
            } else {
                chunk.asSlice(within, count).fill((byte) 0);
            }
        } finally {
            stripe.unlockWrite(stamp);
        }
    }

    /** A range of at most {@link #MAX_COMPARE_BYTES} is in one chunk or in two neighbours. */
    private void compareAndWrite(long at, long bytes, BlockRequest request)
            throws StorageException {
        if (bytes == 0) {
            return;
        }
        int first = stripeIndex(MemoryChunks.indexOf(at));
        int last = stripeIndex(MemoryChunks.indexOf(at + bytes - 1));
        StampedLock lower = stripes[Math.min(first, last)];
        StampedLock upper = stripes[Math.max(first, last)];
        long lowerStamp = lower.writeLock();
        long upperStamp = first == last ? 0 : upper.writeLock();
        try {
            requireOpen();
            long inFirst = Math.min(bytes, MemoryChunks.CHUNK_BYTES - MemoryChunks.offsetOf(at));
            compare(at, 0, inFirst, request);
            compare(at, inFirst, bytes, request);
            chunks.obtainAll(at, bytes); // nothing must be written if memory is short
            store(at, 0, inFirst, bytes, request.buffer());
            store(at, inFirst, bytes, bytes, request.buffer());
        } finally {
            if (upperStamp != 0) {
                upper.unlockWrite(upperStamp);
            }
            lower.unlockWrite(lowerStamp);
        }
    }

    private void compare(long at, long from, long to, BlockRequest request)
            throws MiscompareException {
        if (from == to) {
            return;
        }
        MemorySegment chunk = chunks.find(MemoryChunks.indexOf(at + from));
        long within = chunk == null ? 0 : MemoryChunks.offsetOf(at + from);
        long differs = MemorySegment.mismatch(chunk == null ? MemoryChunks.ZEROES : chunk, within,
                within + to - from, request.buffer(), from, to);
        if (differs >= 0) {
            throw new MiscompareException(
                    request + " on " + this + ": byte " + (from + differs) + " differs",
                    from + differs);
        }
    }

    private void store(long at, long from, long to, long bytes, MemorySegment buffer)
            throws StorageException {
        if (from < to) {
            MemorySegment.copy(buffer, bytes + from,
                    chunks.obtain(MemoryChunks.indexOf(at + from)),
                    MemoryChunks.offsetOf(at + from), to - from);
        }
    }

    /** {@inheritDoc} A hole is as coarse as the chunks. */
    @Override
    public Extent extent(long lba) throws StorageException {
        requireOpen();
        Extent rest = BlockDevice.super.extent(lba);
        long index = MemoryChunks.indexOf(lba * geometry.blockSize());
        boolean allocated = chunks.find(index) != null;
        long blocksPerChunk = MemoryChunks.CHUNK_BYTES / geometry.blockSize();
        long end = chunks.endOfRun(index, allocated) * blocksPerChunk;
        return new Extent(lba, Math.min(rest.blockCount(), end - lba), allocated);
    }

    /** {@inheritDoc} Blocks written meanwhile may be sent old, new or mixed: the channel reads them when it does. */
    @Override
    public long transferTo(long offsetBytes, long countBytes, WritableByteChannel channel)
            throws IOException {
        requireOpen();
        if ((offsetBytes | countBytes) < 0 || countBytes > sizeBytes() - offsetBytes) {
            throw new OutOfRangeException("transfer of " + countBytes + " bytes at byte "
                    + offsetBytes + " of " + this);
        }
        long pin = transfers.readLock();
        try {
            long done = 0;
            while (done < countBytes) {
                ByteBuffer piece = piece(offsetBytes + done, countBytes - done);
                done += piece.remaining();
                while (piece.hasRemaining()) {
                    if (channel.write(piece) == 0) {
                        return done - piece.remaining();
                    }
                }
            }
            return done;
        } finally {
            transfers.unlockRead(pin);
        }
    }

    private ByteBuffer piece(long at, long bytes) throws StorageException {
        long index = MemoryChunks.indexOf(at);
        long within = MemoryChunks.offsetOf(at);
        long count = Math.min(bytes, MemoryChunks.CHUNK_BYTES - within);
        StampedLock stripe = stripe(index);
        long stamp = stripe.readLock();
        try {
            requireOpen();
            MemorySegment chunk = Objects.requireNonNullElse(chunks.find(index),
                    MemoryChunks.ZEROES);
            return chunk.asSlice(within, count).asByteBuffer().asReadOnlyBuffer();
        } finally {
            stripe.unlockRead(stamp);
        }
    }

    @Override
    public void grow(long blockCount) throws StorageException {
        if (blockCount > MAX_BYTES / geometry.blockSize()) {
            throw new InvalidRequestException(
                    "a memory device is limited to " + Size.format(MAX_BYTES));
        }
        for (StampedLock stripe : stripes) {
            stripe.writeLock();
        }
        try {
            requireOpen();
            Geometry before = geometry;
            if (blockCount < before.blockCount()) {
                throw new InvalidRequestException(
                        this + " has more than " + blockCount + " blocks");
            }
            var after = new Geometry(before.blockSize(), blockCount, before.physicalBlockSize());
            chunks.grow(after.sizeBytes());
            limits = limits(after);
            geometry = after;
        } finally {
            for (StampedLock stripe : stripes) {
                stripe.tryUnlockWrite();
            }
        }
    }

    /** Frees the memory, after the requests and transfers in flight. */
    @Override
    public void close() {
        for (StampedLock stripe : stripes) {
            stripe.writeLock();
        }
        boolean first = !closed;
        closed = true;
        for (StampedLock stripe : stripes) {
            stripe.tryUnlockWrite();
        }
        if (first) {
            long pin = transfers.writeLock();
            chunks.close();
            transfers.unlockWrite(pin);
        }
    }

    private void requireOpen() throws DeviceGoneException {
        if (closed) {
            throw new DeviceGoneException(this + " is closed");
        }
    }

    private StampedLock stripe(long chunkIndex) { return stripes[stripeIndex(chunkIndex)]; }

    private static int stripeIndex(long chunkIndex) { return (int) (chunkIndex & (STRIPES - 1)); }

    @Override
    public String toString() { return "ram:" + Size.format(sizeBytes()).replace(" ", ""); }
}
