package lunar.store;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.WritableByteChannel;
import java.nio.file.FileStore;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.StampedLock;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.DeviceLabels;
import lunar.block.DeviceRecords;
import lunar.block.Extent;
import lunar.block.Geometry;
import lunar.block.Identity;
import lunar.block.InvalidRequestException;
import lunar.block.Limits;
import lunar.block.LostWritesException;
import lunar.block.MiscompareException;
import lunar.block.NotSupportedException;
import lunar.block.OutOfRangeException;
import lunar.block.StorageException;
import lunar.block.Usage;
import lunar.block.spi.RequestCompletion;
import lunar.block.spi.RequestValidation;
import org.jspecify.annotations.Nullable;

/**
 * Blocks in a file, {@code file:disk.img?size=1GiB}, or on a whole disk, {@code disk:/dev/sdb}. The file is locked
 * against other processes. Its size is re-read only by {@link #refresh}. Its identity is created once and stored with
 * the file: it survives renaming, and a copy gets a new one.
 *
 * <p>{@link #execute} works on the calling thread, {@link #submit} on workers, except that the submitter does short
 * reads from the page cache, and that reads and writes with {@code io=direct} use an io_uring if the kernel has it. An
 * interrupt fails no request (see {@link FileHandle}). Requests run concurrently, except that a compare-and-write, and
 * with {@code io=direct} a write of partial physical blocks, runs exclusively.
 *
 * <p>After the system has failed to write dirty data back, every flush and every write with FUA fails with
 * {@link lunar.block.LostWritesException}: see {@link #acceptLostWrites}. Reads still succeed, and may return data that
 * is only in the page cache.
 */
public final class FileDevice implements BlockDevice {
    /** Shorter reads cost less by a copy than by a system call of their own. */
    static final int MIN_TRANSFER_BYTES = 16 << 10;

    /** Longer reads are left to the workers, for the submitter has others to serve. */
    static final int MAX_CACHED_BYTES = 64 << 10;

    private final String name;
    private final Set<Capability> capabilities;
    private final Identity identity;
    private final FileOptions options;
    private final FileBlocks blocks;
    /** Null where nothing is written. */
    private final @Nullable Durability durability;
    /** Null where no write can be atomic, as on a disk, which has no file beside it. */
    private final @Nullable FileAtomics atomics;
    /** File store of the file; null for a disk, which is fully allocated. */
    private final @Nullable FileStore store;
    private final Workers workers;
    /** Handles submitted requests before the workers; null if there is none. */
    private final @Nullable FastPath shortcut;
    /** Shared by every request, exclusive to close. */
    private final StampedLock gate = new StampedLock();
    /** Shared by requests that touch blocks, exclusive to those which read, think and write. */
    private final RequestLock alone = new RequestLock();
    /** Changes when the medium does, under this device's monitor, with what belongs to it. */
    private volatile Geometry geometry;
    private volatile Limits limits;
    /** Changed under the gate. */
    private volatile boolean closed;

    FileDevice(String name, Geometry geometry, Identity identity, FileOptions options,
            FileBlocks blocks, @Nullable Durability durability,
            @Nullable FileAtomics atomics, @Nullable FileStore store) {
        this.name = name;
        this.geometry = geometry;
        this.identity = identity;
        this.options = options;
        this.blocks = blocks;
        this.durability = durability;
        this.atomics = atomics;
        this.store = store;
        this.capabilities = FileTraits.capabilities(blocks, atomics != null);
        this.limits = FileTraits.limits(geometry, capabilities, options, blocks);
        this.workers = new Workers(this, options.workers());
        this.shortcut = RingEngine.open(new ForRing(), blocks.own(), options).orElse(null);
    }

    /**
     * Opens a file, creating it if the options say so.
     *
     * @throws IllegalArgumentException if the file is missing, not a regular file, or has a different size than
     *        requested
     * @throws lunar.block.BusyException if another process uses it
     * @throws lunar.block.WriteProtectedException if it may only be read but is opened for writing
     */
    public static FileDevice open(Path path, FileOptions options) throws StorageException {
        return open(path, options, DeviceRecords.NONE);
    }

    /**
     * Like {@link #open(Path, FileOptions)}, but with records of files opened before.
     *
     * @throws IllegalArgumentException if the file is missing, not a regular file, has a different size than requested,
     *        or is missing although records know a device at the path
     * @throws lunar.block.BusyException if another process uses it
     * @throws lunar.block.WriteProtectedException if it may only be read but is opened for writing
     */
    public static FileDevice open(Path path, FileOptions options, DeviceRecords records)
            throws StorageException {
        return FileOpening.open(path, options, records);
    }

    /**
     * Accepts on behalf of the operator that acknowledged writes to a file are lost: flushes and writes with FUA
     * succeed again. A server that uses the file meanwhile notices it at its next flush. From then on reads return the
     * stored data, which may be older than data read before.
     *
     * @return what happened to the file, in one line
     * @throws IllegalArgumentException if no loss of the file is recorded
     * @throws lunar.block.LostWritesException if it cannot be written now either
     */
    public static String acceptLostWrites(Path path) throws IOException {
        LostWritesMarker marker = LostWritesMarker.of(path.toRealPath());
        if (!marker.exists()) {
            throw new IllegalArgumentException("no lost writes of " + path + " are recorded");
        }
        String what = marker.text();
        try (FileDevice device = open(path, FileOptions.BUFFERED)) {
            marker.remove();
            device.flush();
        } catch (BusyException _) { // its server does the rest
            marker.remove();
        }
        return what;
    }

    @Override
    public Geometry geometry() { return geometry; }

    @Override
    public Limits limits() { return limits; }

    @Override
    public Set<Capability> capabilities() { return capabilities; }

    @Override
    public Identity identity() { return identity; }

    /** {@inheritDoc} Written data stays in the page cache, or on the disk, until the system shuts down. */
    @Override
    public Optional<UUID> writeVerifier() { return Optional.of(BootId.get()); }

    /** {@inheritDoc} Each failed sync counts, also after the first; not a loss that was known when it was opened. */
    @Override
    public long writeLosses() { return durability == null ? 0 : durability.losses(); }

    /** {@inheritDoc} Extended attributes of a file, where its file system has them; a disk has none. */
    @Override
    public Optional<DeviceLabels> labels() {
        return store == null
                ? Optional.empty()
                : blocks.labels().map(labels -> new GatedLabels(labels, gate, this::requireOpen));
    }

    @Override
    public boolean readOnly() { return options.readOnly(); }

    @Override
    public void submit(BlockRequest request) {
        if (shortcut != null && shortcut.submit(request)) {
            return;
        }
        if (readCached(request)) {
            RequestCompletion.succeed(request);
        } else {
            workers.submit(request);
        }
    }

    /**
     * Reads from the page cache on this thread, which is cheaper than handing the request over and never waits. Returns
     * false if the request was not executed.
     */
    private boolean readCached(BlockRequest request) {
        if (options.io() == FileOptions.Io.DIRECT
                || request.operation() != BlockRequest.Operation.READ
                || request.buffer().byteSize() > MAX_CACHED_BYTES) {
            return false;
        }
        long entered = gate.tryReadLock();
        if (entered == 0) {
            return false;
        }
        long beside = alone.tryReadLock();
        try {
            if (beside == 0 || isGone()) {
                return false;
            }
            RequestValidation.check(request, this);
            return blocks.readCached(request.lba() * geometry.blockSize(), request.buffer());
        } catch (IOException | RuntimeException e) {
            return false; // a worker gets the error again and reports it
        } finally {
            if (beside != 0) {
                alone.unlockRead(beside);
            }
            gate.unlockRead(entered);
        }
    }

    /** Returns the name of what runs submitted reads and writes. */
    String engine() {
        return shortcut == null ? "workers" : shortcut.toString();
    }

    /** This device as a ring sees it. */
    private final class ForRing implements RingEngine.Device {
        @Override
        public boolean isDirect(BlockRequest request) {
            switch (request.operation()) {
                case READ, WRITE -> {
                    if (request.blockCount() <= 0 || request.atomic() || isLost()
                            || !blocks.isDirectlyUsable(offsetBytes(request), request.buffer())
                            || (request.fua() && hasLostWrites())) {
                        return false;
                    }
                }
                case FLUSH, UNMAP, WRITE_ZEROES, COMPARE_AND_WRITE -> {
                    return false;
                }
            }
            try {
                RequestValidation.check(request, FileDevice.this);
                return true;
            } catch (StorageException _) {
                return false; // a worker tells it
            }
        }

        @Override
        public boolean isLost() { return blocks.isLost(); }

        @Override
        public long offsetBytes(BlockRequest request) {
            return request.lba() * geometry.blockSize();
        }

        @Override
        public RequestLock alone() { return alone; }

        @Override
        public void submitToWorkers(BlockRequest request) { workers.submit(request); }

        @Override
        public void stableWriteFailed(String reason) {
            if (durability != null) {
                durability.stableWriteFailed(reason);
            }
        }

        private boolean hasLostWrites() { return durability != null && durability.isLost(); }

        @Override
        public String toString() { return name; }
    }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        long entered = gate.readLock();
        try {
            requireOpen();
            RequestValidation.check(request, this);
            if (alone.isShut()) {
                mend();
            }
            switch (request.operation()) {
                case READ, WRITE, UNMAP, WRITE_ZEROES -> {
                    if (request.atomic()) {
                        writeAtomic(request);
                    } else {
                        besideOthers(request);
                    }
                }
                case COMPARE_AND_WRITE -> compareAndWrite(request);
                case FLUSH -> force();
            }
        } catch (IOException e) {
            throw IoFailure.of(request + " on " + name, e);
        } finally {
            gate.unlockRead(entered);
        }
    }

    private void besideOthers(BlockRequest request) throws IOException {
        long at = request.lba() * geometry.blockSize();
        long bytes = request.blockCount() * geometry.blockSize();
        boolean partial = request.operation() != BlockRequest.Operation.READ
                && !blocks.isAligned(at, bytes);
        long stamp = partial ? alone.writeLock() : alone.readLock();
        try {
            requireWhole();
            switch (request.operation()) {
                case READ -> blocks.read(at, request.buffer());
                case WRITE -> {
                    blocks.write(at, request.buffer());
                    settle(request.fua());
                }
                case UNMAP, WRITE_ZEROES -> {
                    if (bytes > 0) { // fallocate(2) has no range of nothing
                        blocks.zero(at, bytes, request.operation() == BlockRequest.Operation.UNMAP);
                    }
                    settle(request.fua());
                }
                case FLUSH, COMPARE_AND_WRITE -> throw new AssertionError(request);
            }
        } finally {
            alone.unlock(stamp);
        }
    }

    private void writeAtomic(BlockRequest request) throws IOException {
        if (request.blockCount() > 0) { // and it has the capability, which was checked
            Objects.requireNonNull(atomics).write(alone, request.lba() * geometry.blockSize(),
                    request.buffer());
        }
    }

    /** Completes an atomic write that has failed half-way; until then no request may access the blocks. */
    private void mend() throws StorageException {
        Objects.requireNonNull(atomics).mend(alone);
    }

    /** With a share: the file may have been lost, or an atomic write have failed, while the request waited for it. */
    private void requireWhole() throws StorageException {
        blocks.requireHeld();
        if (alone.isShut()) {
            throw Objects.requireNonNull(atomics).torn(null);
        }
    }

    private void compareAndWrite(BlockRequest request) throws IOException {
        long at = request.lba() * geometry.blockSize();
        long bytes = request.blockCount() * geometry.blockSize();
        MemorySegment present = MemorySegment.ofArray(new byte[(int) bytes]);
        long stamp = alone.writeLock();
        try {
            requireWhole();
            blocks.read(at, present);
            long differs = present.mismatch(request.buffer().asSlice(0, bytes));
            if (differs >= 0) {
                throw new MiscompareException(
                        request + " on " + name + ": byte " + differs + " differs", differs);
            }
            blocks.write(at, request.buffer().asSlice(bytes));
            settle(request.fua());
        } finally {
            alone.unlockWrite(stamp);
        }
    }

    private void settle(boolean fua) throws IOException {
        if (fua || options.io() == FileOptions.Io.SYNC) {
            force();
        }
    }

    private void force() throws LostWritesException {
        if (durability != null) {
            durability.force();
        }
    }

    /** {@inheritDoc} Linux tells the holes of a file, but not of a disk. */
    @Override
    public Extent extent(long lba) throws StorageException {
        long entered = gate.readLock();
        try {
            requireOpen();
            Extent rest = BlockDevice.super.extent(lba);
            return blocks.extent(lba, geometry).orElse(rest);
        } catch (IOException e) {
            throw IoFailure.of("extent at " + lba + " of " + name, e);
        } finally {
            gate.unlockRead(entered);
        }
    }

    /** {@inheritDoc} Returns the allocated space of the file, and the free space of its file system. */
    @Override
    public Optional<Usage> usage() {
        if (store == null) {
            return Optional.empty();
        }
        long entered = gate.readLock();
        try {
            OptionalLong used = closed ? OptionalLong.empty() : blocks.allocatedBytes();
            if (used.isEmpty()) {
                return Optional.empty();
            }
            long holes = Math.max(0, sizeBytes() - used.getAsLong());
            return Optional.of(
                    new Usage(used.getAsLong(), Math.min(holes, store.getUsableSpace())));
        } catch (IOException _) {
            return Optional.empty();
        } finally {
            gate.unlockRead(entered);
        }
    }

    /** {@inheritDoc} A file is locked; a disk may be written to by other hosts that are connected to it. */
    @Override
    public boolean comparesForAllHosts() { return store != null; }

    /** {@inheritDoc} The page cache has those of a disk; dirty pages are written first. A file is locked. */
    @Override
    public void forget(long lba, long blockCount) {
        if (store != null) {
            return;
        }
        long entered = gate.readLock();
        try {
            long at = lba * geometry.blockSize();
            long bytes = blockCount * geometry.blockSize();
            if (!isGone() && !blocks.dropCached(at, bytes) && durability != null) {
                durability.sync();
                boolean _ = blocks.dropCached(at, bytes);
            }
        } catch (LostWritesException _) {
            // The next flush reports it.
        } finally {
            gate.unlockRead(entered);
        }
    }

    /** {@inheritDoc} What does not fill a block, or an aligned unit of direct I/O, is left out. */
    @Override
    public void refresh() throws StorageException {
        long entered = gate.readLock();
        try {
            requireOpen();
            synchronized (this) { // a size from before a grow would take it back
                resized(blocks.sizeBytes());
            }
        } catch (IOException e) {
            throw IoFailure.of("size of " + name, e);
        } finally {
            gate.unlockRead(entered);
        }
    }

    /** Under the monitor. */
    private void resized(long sizeBytes) throws IOException {
        Geometry before = geometry;
        long unit = Math.max(before.blockSize(), blocks.alignmentBytes());
        long blockCount = sizeBytes / unit * (unit / before.blockSize());
        if (blockCount > 0 && blockCount != before.blockCount()) {
            var after = new Geometry(before.blockSize(), blockCount, before.physicalBlockSize());
            limits = FileTraits.limits(after, capabilities, options, blocks);
            blocks.resized();
            geometry = after;
        }
    }

    /** {@inheritDoc} A file only: a disk is as large as it is. */
    @Override
    public void grow(long blockCount) throws StorageException {
        long entered = gate.readLock();
        try {
            requireOpen();
            if (store == null || readOnly()) {
                throw new NotSupportedException(
                        "the size of " + name + " cannot be changed by Lunar");
            }
            long bytes = new Geometry(geometry.blockSize(), blockCount,
                    geometry.physicalBlockSize()).sizeBytes();
            if (bytes % Math.max(geometry.blockSize(), blocks.alignmentBytes()) != 0) {
                throw new InvalidRequestException(bytes + " bytes are not a multiple of "
                        + blocks.alignmentBytes() + ", as io=direct requires for " + name);
            }
            synchronized (this) {
                if (bytes < blocks.sizeBytes()) {
                    throw new InvalidRequestException(
                            name + " has " + blocks.sizeBytes() + " bytes, more than " + bytes);
                }
                if (bytes > blocks.sizeBytes()) {
                    blocks.extend(bytes);
                    force();
                }
                resized(bytes);
            }
        } catch (IOException e) {
            throw IoFailure.of("growing " + name, e);
        } finally {
            gate.unlockRead(entered);
        }
    }

    /** {@inheritDoc} So with {@code io=sendfile}, for what the page cache has of a request that is worth it. */
    @Override
    public boolean prefersTransfer(long offsetBytes, long countBytes) {
        if (countBytes < MIN_TRANSFER_BYTES || options.io() != FileOptions.Io.SENDFILE) {
            return false;
        }
        long entered = gate.tryReadLock();
        if (entered == 0) {
            return false;
        }
        try {
            return !isGone() && blocks.isResident(offsetBytes, countBytes);
        } finally {
            gate.unlockRead(entered);
        }
    }

    /** {@inheritDoc} Blocks written meanwhile may be sent old, new or mixed: the page cache is sent as it is. */
    @Override
    public long transferTo(long offsetBytes, long countBytes, WritableByteChannel channel)
            throws IOException {
        if (!supports(Capability.TRANSFER_TO)) {
            throw new NotSupportedException(name + " has no page cache to transfer from");
        }
        long entered = gate.readLock();
        try {
            requireOpen();
            if (alone.isShut()) {
                mend();
            }
            if ((offsetBytes | countBytes) < 0 || countBytes > sizeBytes() - offsetBytes) {
                throw new OutOfRangeException("transfer of " + countBytes + " bytes at byte "
                        + offsetBytes + " of " + name);
            }
            return blocks.transferTo(offsetBytes, countBytes, channel);
        } finally {
            gate.unlockRead(entered);
        }
    }

    /** Completes requests in flight, fails waiting ones, and releases the lock. Data is stable only after a flush. */
    @Override
    public void close() throws StorageException {
        if (shortcut != null) {
            shortcut.close();
        }
        workers.close();
        long stamp = gate.writeLock();
        try {
            if (!closed) {
                closed = true;
                try (blocks; durability) { // in reverse order: with the blocks goes the lock
                    if (atomics != null) {
                        atomics.close();
                    }
                }
            }
        } catch (IOException e) {
            throw IoFailure.of("close of " + name, e);
        } finally {
            gate.unlockWrite(stamp);
        }
    }

    private void requireOpen() throws DeviceGoneException {
        if (closed) {
            throw new DeviceGoneException(name + " is closed");
        }
        blocks.requireHeld();
    }

    private boolean isGone() { return closed || blocks.isLost(); }

    @Override
    public String toString() { return name; }
}
