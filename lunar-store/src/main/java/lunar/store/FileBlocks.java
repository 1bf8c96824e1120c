package lunar.store;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.ArrayDeque;
import java.util.EnumSet;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.DeviceLabels;
import lunar.block.Extent;
import lunar.block.Geometry;
import org.jspecify.annotations.Nullable;

/**
 * Access to the bytes of a file or disk by the method of its options. With {@code O_DIRECT}, position, length and
 * memory of a transfer must be aligned: unaligned transfers use cached aligned buffers, and a write of partial units
 * first reads them, which requires that the caller has exclusive access.
 */
final class FileBlocks implements AutoCloseable {
    /** Longest run of zeroes that is written where holes cannot be punched. */
    static final long MAX_WRITTEN_ZEROES_BYTES = 64L << 20;

    /** Longest page of the processors that are supported. */
    private static final long MAX_PAGE_BYTES = 64 << 10;
    private static final int BOUNCE_BYTES = 1 << 20;
    /** A byte that is read to see whether the page cache has it. */
    private static final MemorySegment PROBE = Arena.global().allocate(1);
    private static final MemorySegment ZEROES = Arena.global().allocate(BOUNCE_BYTES, 4096)
            .asReadOnly();

    private final FileHandle file;
    private final @Nullable HolePuncher puncher;
    /** 1 where the page cache takes everything. */
    private final int alignmentBytes;
    /** Null where there is none for us: with O_DIRECT, and without native access. */
    private final @Nullable PageCache cache;
    /** Null where nothing is done by it. */
    private final @Nullable FileMapping mapping;
    private final FileOptions.Io io;
    private final Arena arena = Arena.ofShared();
    /** Guarded by itself; as many as were in use at once. */
    private final ArrayDeque<MemorySegment> bounces = new ArrayDeque<>();

    FileBlocks(FileHandle file, FileOptions.Io io, @Nullable HolePuncher puncher,
            int alignmentBytes) throws IOException {
        this.file = file;
        this.io = io;
        mapping = switch (io) {
            case MAPPED, SENDFILE -> new FileMapping(file);
            case BUFFERED, SYNC, DIRECT -> null;
        };
        this.puncher = puncher;
        this.alignmentBytes = alignmentBytes;
        cache = puncher == null || alignmentBytes != 1
                ? null
                : PageCache.of(puncher.file()).orElse(null);
    }

    int alignmentBytes() { return alignmentBytes; }

    /** A descriptor for requests that the kernel executes by itself; see {@link FileHandle#own}. */
    @Nullable
    LinuxFile own() { return file.own(); }

    /** @throws DeviceGoneException once the file must not be used any longer */
    void requireHeld() throws DeviceGoneException {
        file.requireHeld();
    }

    boolean isLost() { return file.isLost(); }

    Set<Capability> capabilities() {
        var capabilities = EnumSet.of(Capability.FUA, Capability.WRITE_ZEROES,
                Capability.COMPARE_AND_WRITE);
        if (alignmentBytes == 1) {
            capabilities.add(Capability.TRANSFER_TO);
        }
        if (puncher != null && puncher.unmaps()) {
            capabilities.add(Capability.UNMAP);
            capabilities.add(Capability.UNMAP_ZEROES);
        }
        return Set.copyOf(capabilities);
    }

    /** Labels of the file; empty if they cannot be reached, or its file system has none. */
    Optional<DeviceLabels> labels() {
        return puncher == null
                ? Optional.empty()
                : FileLabels.of(puncher.file()).filter(FileLabels::isSupported)
                        .map(labels -> labels);
    }

    /** Bytes of the file or disk, now. */
    long sizeBytes() throws IOException {
        return file.sizeBytes();
    }

    /** Extends a file; the new part is a hole except for its last aligned unit. */
    void extend(long toBytes) throws IOException {
        write(toBytes - alignmentBytes, ZEROES.asSlice(0, alignmentBytes));
    }

    /** The file has another size. */
    void resized() throws IOException {
        if (mapping != null) {
            mapping.refresh(file);
        }
    }

    /** Whether a write of this range touches whole aligned units only. */
    boolean isAligned(long offsetBytes, long countBytes) {
        return ((offsetBytes | countBytes) & (alignmentBytes - 1)) == 0;
    }

    void read(long offsetBytes, MemorySegment into) throws IOException {
        if (isDirectlyUsable(offsetBytes, into)) {
            long done = cache != null && into.isNative() ? cache.read(offsetBytes, into) : 0;
            if (done < into.byteSize()) {
                file.read(into.asSlice(done).asByteBuffer(), offsetBytes + done);
            }
            return;
        }
        MemorySegment bounce = borrow();
        try {
            for (long done = 0; done < into.byteSize();) {
                long start = alignDown(offsetBytes + done);
                long within = offsetBytes + done - start;
                long count = Math.min(into.byteSize() - done, BOUNCE_BYTES - within);
                file.read(bytes(bounce, alignUp(within + count)), start);
                MemorySegment.copy(bounce, within, into, done, count);
                done += count;
            }
        } finally {
            giveBack(bounce);
        }
    }

    /** Whether the page cache is known to have these bytes. */
    boolean isResident(long offsetBytes, long countBytes) {
        return mapping != null && mapping.isResident(offsetBytes, countBytes);
    }

    /**
     * Drops clean pages of a range from the page cache, since another host may have written to the disk. Has no effect
     * without native access. Direct I/O does not use the cache.
     *
     * @return whether the range is not in the cache any more, as far as is known
     */
    boolean dropCached(long offsetBytes, long countBytes) {
        if (puncher == null || io == FileOptions.Io.DIRECT) {
            return true;
        }
        long from = offsetBytes & -MAX_PAGE_BYTES;
        long count = (offsetBytes + countBytes - from + MAX_PAGE_BYTES - 1) & -MAX_PAGE_BYTES;
        if (mapping != null) {
            mapping.unload(from, count);
        }
        puncher.file().dropCache(from, count);
        return mapping != null
                ? !mapping.isResident(offsetBytes, 1)
                : cache == null || !cache.readCached(offsetBytes, PROBE);
    }

    /** Reads if that needs no disk; returns whether it was so. */
    boolean readCached(long offsetBytes, MemorySegment into) throws IOException {
        if (io == FileOptions.Io.MAPPED && mapping != null) {
            return mapping.read(offsetBytes, into);
        }
        return cache != null && into.isNative() && cache.readCached(offsetBytes, into);
    }

    void write(long offsetBytes, MemorySegment from) throws IOException {
        if (isDirectlyUsable(offsetBytes, from)) {
            long done = cache != null && from.isNative() ? cache.write(offsetBytes, from) : 0;
            if (done < from.byteSize()) {
                file.write(from.asSlice(done).asByteBuffer(), offsetBytes + done);
            }
            return;
        }
        MemorySegment bounce = borrow();
        try {
            for (long done = 0; done < from.byteSize();) {
                long start = alignDown(offsetBytes + done);
                long within = offsetBytes + done - start;
                long count = Math.min(from.byteSize() - done, BOUNCE_BYTES - within);
                long length = alignUp(within + count);
                if (within != 0 || length != count) {
                    file.read(bytes(bounce, length), start);
                }
                MemorySegment.copy(from, done, bounce, within, count);
                file.write(bytes(bounce, length), start);
                done += count;
            }
        } finally {
            giveBack(bounce);
        }
    }

    /** Allocates space for a range, if the file system supports that, so that a write of it does not fail half-way. */
    void reserve(long offsetBytes, long countBytes) throws IOException {
        if (puncher != null) {
            boolean _ = puncher.file().allocate(LinuxFile.RESERVE, offsetBytes, countBytes);
        }
    }

    /** Makes a range read as zeroes. */
    void zero(long offsetBytes, long countBytes, boolean deallocate) throws IOException {
        if (puncher != null && puncher.zero(offsetBytes, countBytes, deallocate)) {
            return;
        }
        for (long done = 0; done < countBytes;) {
            long count = Math.min(BOUNCE_BYTES, countBytes - done);
            write(offsetBytes + done, ZEROES.asSlice(0, count));
            done += count;
        }
    }

    /** The run of blocks from this one on that are all in a hole or all not; empty if that is unknown. */
    Optional<Extent> extent(long lba, Geometry geometry) throws IOException {
        return puncher == null ? Optional.empty() : puncher.extent(lba, geometry);
    }

    /** Bytes that the file takes in its file system; empty if that is unknown. */
    OptionalLong allocatedBytes() {
        return puncher == null ? OptionalLong.empty() : puncher.file().allocatedBytes();
    }

    long transferTo(long offsetBytes, long countBytes, WritableByteChannel channel)
            throws IOException {
        return file.transferTo(offsetBytes, countBytes, channel);
    }

    /** Whether the file itself takes this memory at this place, without a copy. */
    boolean isDirectlyUsable(long offsetBytes, MemorySegment buffer) {
        if (buffer.isNative()) {
            return isAligned(offsetBytes | buffer.address(), buffer.byteSize());
        }
        // A read-only heap segment does not expose its array, and only byte arrays can be wrapped as ByteBuffers.
        return alignmentBytes == 1 && buffer.heapBase().orElse(null) instanceof byte[];
    }

    private static ByteBuffer bytes(MemorySegment bounce, long count) {
        return bounce.asSlice(0, count).asByteBuffer();
    }

    private long alignDown(long offsetBytes) { return offsetBytes & -alignmentBytes; }

    private long alignUp(long offsetBytes) { return alignDown(offsetBytes + alignmentBytes - 1); }

    private MemorySegment borrow() {
        synchronized (bounces) {
            MemorySegment kept = bounces.poll();
            if (kept != null) {
                return kept;
            }
        }
        return arena.allocate(BOUNCE_BYTES, Math.max(4096, alignmentBytes));
    }

    private void giveBack(MemorySegment bounce) {
        synchronized (bounces) {
            bounces.push(bounce);
        }
    }

    @Override
    public void close() throws IOException {
        try (file; puncher) {
            arena.close();
        }
    }
}
