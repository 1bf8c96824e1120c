package lunar.raid.metadata.checksum;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32C;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.Capability;
import lunar.block.LostWritesException;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.raid.metadata.page.Waiter;
import org.jspecify.annotations.Nullable;

/**
 * A request to a member that concerns its checksums. The member gets it at once, while the pages are fetched; what it
 * has written has its checksums before it ends. Reused.
 */
final class ChecksumRequest extends Waiter implements BlockRequest.Completion {
    private final ChecksummedMember member;
    private final ChecksumCache cache;
    private final BlockRequest own = new BlockRequest();
    private final AtomicInteger pending = new AtomicInteger();
    private final CRC32C crc = new CRC32C();
    private int[] checksums = new int[0];
    private @Nullable BlockRequest request;
    private ChecksumCache.Way way = _ -> {};
    private boolean adopts;
    private @Nullable StorageException failure;

    /** First block of the data area, and how many. */
    long block;
    int blocks;
    /** Guarded by the cache, as the next two: its pages. */
    final List<ChecksumPage> pages = new ArrayList<>();
    /** Pages that are not there yet. */
    int lacking;
    /** Why there are no pages. */
    @Nullable
    StorageException why;
    /** Guarded by the cache: how often it had forgotten checksums when this began. */
    long doubts;
    /** The number of a flush. */
    private long flush;

    ChecksumRequest(ChecksummedMember member, ChecksumCache cache) {
        this.member = member;
        this.cache = cache;
        own.onCompletion(this);
    }

    long firstPage() { return block / ChecksumFormat.PER_PAGE; }

    long lastPage() { return (block + blocks - 1) / ChecksumFormat.PER_PAGE; }

    /** The page with the checksum of one of its blocks. */
    ChecksumPage pageOf(int index) {
        return pages.get((int) ((block + index) / ChecksumFormat.PER_PAGE - firstPage()));
    }

    /** @param adoptsWhatItReads whether a checksum that is not known is what is read */
    void start(BlockRequest given, long firstBlock, boolean adoptsWhatItReads,
            ChecksumCache.Way how) {
        request = given;
        way = how;
        adopts = adoptsWhatItReads;
        failure = null;
        why = null;
        lacking = 0;
        own.asCopyOf(given);
        if (given.operation() == Operation.FLUSH) {
            cache.flush(this, how);
            return;
        }
        block = firstBlock;
        blocks = (int) given.blockCount();
        pending.set(2);
        if (cache.acquire(this, how)) {
            arrive();
        }
        how.go(own);
    }

    /** The pages are there, or are written. */
    @Override
    public void stable(@Nullable StorageException refusal) {
        why = refusal;
        if (own.operation() != Operation.FLUSH) {
            arrive();
        } else if (refusal == null) {
            flush = cache.beginFlush();
            way.go(own);
        } else {
            end(refusal);
        }
    }

    @Override
    public void completed(BlockRequest ended, @Nullable StorageException cause) {
        failure = cause;
        if (own.operation() == Operation.FLUSH) {
            cache.endFlush(flush, cause, way);
            end(cause);
        } else {
            arrive();
        }
    }

    private void arrive() {
        if (pending.decrementAndGet() == 0) {
            StorageException end = failure == null ? why : failure;
            if (why == null) {
                end = finish();
            }
            cache.release(this, way);
            end(end);
        }
    }

    private @Nullable StorageException finish() {
        if (failure instanceof LostWritesException) {
            cache.forget();
        }
        if (checksums.length < blocks) {
            checksums = new int[blocks];
        }
        if (own.operation() != Operation.READ) {
            if (failure == null || !failure.retryable()) { // else it is sent again, or the member is given up
                note();
                cache.put(this, checksums);
            }
            return failure;
        }
        if (failure != null) {
            return failure;
        }
        compute();
        int wrong = cache.check(this, checksums, adopts);
        if (wrong < 0) {
            return null;
        }
        if (adopts) {
            member.foundWrong();
        }
        return new MediumException(own + " of " + member + ": block " + (own.lba() + wrong)
                + " is not what was written: its checksum is wrong");
    }

    /** Notes the effect: a failed request may have had a part of it, and so may an unmap that is a hint. */
    private void note() {
        if (failure != null || (own.operation() == Operation.UNMAP
                && !member.supports(Capability.UNMAP_ZEROES))) {
            Arrays.fill(checksums, 0, blocks, ChecksumFormat.UNKNOWN);
        } else if (own.operation() == Operation.WRITE) {
            compute();
        } else {
            Arrays.fill(checksums, 0, blocks, member.checksumOfZeroes());
        }
    }

    private void compute() {
        MemorySegment data = own.buffer();
        ByteBuffer bytes = data.isNative() || data.heapBase().orElse(null) instanceof byte[]
                ? data.asByteBuffer()
                : ByteBuffer.wrap(data.toArray(ValueLayout.JAVA_BYTE));
        int blockSize = member.blockSize();
        for (int i = 0; i < blocks; i++) {
            checksums[i] = ChecksumFormat.of(bytes, i * blockSize, blockSize, crc);
        }
    }

    private void end(@Nullable StorageException how) {
        BlockRequest ended = Objects.requireNonNull(request);
        request = null;
        member.giveBack(this);
        RequestCompletion.complete(ended, how);
    }
}
