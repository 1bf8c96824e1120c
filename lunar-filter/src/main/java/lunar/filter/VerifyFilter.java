package lunar.filter;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import java.util.zip.CRC32C;
import lunar.block.AbortedException;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.block.Capability;
import lunar.block.DeadlineException;
import lunar.block.DeviceGoneException;
import lunar.block.Extent;
import lunar.block.InvalidRequestException;
import lunar.block.Limits;
import lunar.block.LostWritesException;
import lunar.block.MediumException;
import lunar.block.MiscompareException;
import lunar.block.NoSpaceException;
import lunar.block.NotSupportedException;
import lunar.block.OutOfRangeException;
import lunar.block.OwnershipLostException;
import lunar.block.ReservationConflictException;
import lunar.block.StorageException;
import lunar.block.WriteProtectedException;
import lunar.block.spi.RequestCompletion;
import lunar.block.spi.RequestValidation;
import org.jspecify.annotations.Nullable;

/**
 * Stores a CRC32C of every block written through it, and fails a read of different data with
 * {@link MiscompareException}, {@code verify:ram:64MiB}. Detects lost, torn and misplaced writes and flipped bits. Does
 * not verify blocks that were never written, whose write failed, that were written concurrently, or that were unmapped
 * on a device without {@link Capability#UNMAP_ZEROES}. Uses eight bytes of memory per block.
 */
public final class VerifyFilter extends Filter {
    /** Zeroed ranges are remembered block by block, so they must not be longer. */
    private static final long MAX_ZEROED_BLOCKS = 1 << 18;

    /** Maximum length of a reported hole, because holes are compared with the checksums. */
    private static final long MAX_HOLE_BLOCKS = 1L << 30;

    private final Checksums checksums = new Checksums();
    private final int zeroCrc;

    /** A filter that owns the device below. */
    public VerifyFilter(BlockDevice below) {
        super(below, Set.of(Capability.TRANSFER_TO));
        this.zeroCrc = crc(MemorySegment.ofArray(new byte[below.blockSize()]));
    }

    @Override
    public Limits limits() {
        Limits limits = below().limits();
        return new Limits(limits.maxTransferBlocks(), limits.optimalTransferBlocks(),
                Math.min(limits.maxUnmapBlocks(), MAX_ZEROED_BLOCKS),
                Math.min(limits.maxWriteZeroesBlocks(), MAX_ZEROED_BLOCKS),
                limits.maxCompareAndWriteBlocks(), limits.maxAtomicWriteBlocks(),
                limits.queueDepth(), limits.bufferAlignmentBytes());
    }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        RequestValidation.check(request, this);
        switch (request.operation()) {
            case FLUSH -> below().execute(request);
            case READ -> {
                long[] before = states(request);
                below().execute(request);
                MiscompareException wrong = difference(request, before);
                if (wrong != null) {
                    throw wrong;
                }
            }
            case WRITE, UNMAP, WRITE_ZEROES, COMPARE_AND_WRITE -> {
                begin(request);
                Checksums.End end = Checksums.End.UNKNOWN;
                try {
                    below().execute(request);
                    end = Checksums.End.WRITTEN;
                } catch (StorageException e) {
                    end = endAfter(e);
                    throw e;
                } finally {
                    end(request, end);
                }
            }
        }
    }

    @Override
    public void submit(BlockRequest request) {
        try {
            RequestValidation.check(request, this);
        } catch (StorageException e) {
            RequestCompletion.fail(request, e);
            return;
        }
        switch (request.operation()) {
            case FLUSH -> below().submit(request);
            case READ -> {
                long[] before = states(request);
                passOn(request, (_, failure) -> {
                    RequestCompletion.complete(request,
                            failure == null ? difference(request, before) : failure);
                });
            }
            case WRITE, UNMAP, WRITE_ZEROES, COMPARE_AND_WRITE -> {
                begin(request);
                passOn(request, (_, failure) -> {
                    end(request, failure == null ? Checksums.End.WRITTEN : endAfter(failure));
                    RequestCompletion.complete(request, failure);
                });
            }
        }
    }

    /** {@inheritDoc} Blocks written through the filter are no hole: a caller that skips holes finds a lost write. */
    @Override
    public Extent extent(long lba) throws StorageException {
        Extent extent = below().extent(lba);
        if (extent.allocated()) {
            return extent;
        }
        long end = lba + Math.min(extent.blockCount(), MAX_HOLE_BLOCKS);
        long written = checksums.firstKnownOtherThan(zeroCrc, lba, end);
        return written == lba ? new Extent(lba, 1, true) : new Extent(lba, written - lba, false);
    }

    private static Checksums.End endAfter(StorageException failure) {
        return switch (failure) {
            case MiscompareException _,WriteProtectedException _,OutOfRangeException _,InvalidRequestException _,NotSupportedException _,ReservationConflictException _ ->
                Checksums.End.UNCHANGED;
            case AbortedException _,BusyException _,DeadlineException _,DeviceGoneException _,LostWritesException _,MediumException _,NoSpaceException _,OwnershipLostException _ ->
                Checksums.End.UNKNOWN;
        };
    }

    private void begin(BlockRequest request) {
        for (long i = 0; i < request.blockCount(); i++) {
            checksums.begin(request.lba() + i);
        }
    }

    private void end(BlockRequest request, Checksums.End how) {
        // Some blocks may be as before.
        boolean isHint = request.operation() == BlockRequest.Operation.UNMAP
                && !supports(Capability.UNMAP_ZEROES);
        Checksums.End end = isHint && how == Checksums.End.WRITTEN ? Checksums.End.UNKNOWN : how;
        MemorySegment written = switch (request.operation()) {
            case WRITE -> request.buffer();
            case COMPARE_AND_WRITE -> request.buffer().asSlice(request.buffer().byteSize() / 2);
            case READ, FLUSH, UNMAP, WRITE_ZEROES -> MemorySegment.NULL;
        };
        for (long i = 0; i < request.blockCount(); i++) {
            boolean counts = end == Checksums.End.WRITTEN && written.byteSize() > 0;
            checksums.end(request.lba() + i, end, counts ? crc(block(written, i)) : zeroCrc);
        }
    }

    private long[] states(BlockRequest request) {
        long[] states = new long[(int) request.blockCount()];
        for (int i = 0; i < states.length; i++) {
            states[i] = checksums.state(request.lba() + i);
        }
        return states;
    }

    private @Nullable MiscompareException difference(BlockRequest request, long[] before) {
        for (int i = 0; i < before.length; i++) {
            long lba = request.lba() + i;
            if (Checksums.isKnown(before[i]) && checksums.state(lba) == before[i]
                    && crc(block(request.buffer(), i)) != Checksums.crc(before[i])) {
                return new MiscompareException(request + " on " + this + ": block " + lba
                        + " does not contain the data last written", (long) i * blockSize());
            }
        }
        return null;
    }

    private MemorySegment block(MemorySegment buffer, long index) {
        return buffer.asSlice(index * blockSize(), blockSize());
    }

    private static int crc(MemorySegment block) {
        var crc = new CRC32C();
        if (block.isNative() || block.heapBase().orElse(null) instanceof byte[]) {
            crc.update(block.asByteBuffer());
        } else {
            crc.update(block.toArray(ValueLayout.JAVA_BYTE));
        }
        return (int) crc.getValue();
    }

    @Override
    public String toString() { return "verify over " + below(); }
}
