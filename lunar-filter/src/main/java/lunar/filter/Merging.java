package lunar.filter;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import org.jspecify.annotations.Nullable;

/**
 * Finds requests that can be merged: reads, or writes, each of which begins where the previous one ends. A
 * {@link BlockRequest} has one buffer, so their data is copied to or from one of a few buffers of the filter. The
 * filter's lock guards it, except for the copies.
 */
final class Merging {
    /**
     * Requests that go together.
     *
     * @param buffer memory for all of them; null for one alone, which keeps its own
     */
    record Batch(List<ScheduledRequest> parts, @Nullable MemorySegment buffer) {
        static Batch of(ScheduledRequest one) { return new Batch(List.of(one), null); }
    }

    private record Start(Operation operation, boolean fua, long lba) {}

    private final Map<Start, ScheduledRequest> starting = new HashMap<>();
    private final StagingBuffers buffers;
    private final int blockSize;

    /** @param depth batches that are in flight at once */
    Merging(long maxBytes, int depth, int blockSize) {
        this.blockSize = blockSize;
        buffers = new StagingBuffers(depth, maxBytes);
    }

    private static Start startOf(ScheduledRequest request) {
        return new Start(request.operation(), request.request.fua(), request.lba());
    }

    /** A request waits. Of several that begin at the same block one can be found. */
    void add(ScheduledRequest request) {
        if (request.canMerge()) {
            starting.putIfAbsent(startOf(request), request);
        }
    }

    /** It does not any longer. */
    void remove(ScheduledRequest request) {
        starting.remove(startOf(request), request);
    }

    /** Returns a chosen request together with those merged into it, and removes all of them. */
    Batch gather(ScheduledRequest first, long maxBlocks) {
        remove(first);
        long most = Math.min(maxBlocks, buffers.bytes() / blockSize);
        ScheduledRequest next = follower(first, first.lba() + first.blockCount());
        if (next == null || first.blockCount() + next.blockCount() > most) {
            return Batch.of(first);
        }
        MemorySegment buffer = buffers.take();
        if (buffer == null) {
            return Batch.of(first);
        }
        var parts = new ArrayList<>(List.of(first));
        long count = first.blockCount();
        while (next != null && count + next.blockCount() <= most) {
            remove(next);
            parts.add(next);
            count += next.blockCount();
            next = follower(first, first.lba() + count);
        }
        return new Batch(parts, buffer);
    }

    private @Nullable ScheduledRequest follower(ScheduledRequest first, long lba) {
        return first.canMerge()
                ? starting.get(new Start(first.operation(), first.request.fua(), lba))
                : null;
    }

    /**
     * The request for all parts of a batch.
     *
     * @throws IllegalStateException and so on, when a part's buffer cannot be used
     */
    BlockRequest merge(Batch batch, MemorySegment buffer) {
        ScheduledRequest first = batch.parts.getFirst();
        long count = batch.parts.stream().mapToLong(ScheduledRequest::blockCount).sum();
        MemorySegment data = buffer.asSlice(0, count * blockSize);
        if (first.operation() == Operation.READ) {
            return new BlockRequest().asRead(first.lba(), count, data);
        }
        for (ScheduledRequest part : batch.parts) {
            MemorySegment from = part.request.buffer();
            MemorySegment.copy(from, 0, data, offsetOf(part, first), from.byteSize());
        }
        return new BlockRequest().asWrite(first.lba(), count, data, first.request.fua());
    }

    /** Copies to each part of a read its own data. Fails like {@link #merge}. */
    void copyOut(Batch batch, MemorySegment buffer) {
        ScheduledRequest first = batch.parts.getFirst();
        for (ScheduledRequest part : batch.parts) {
            MemorySegment to = part.request.buffer();
            MemorySegment.copy(buffer, offsetOf(part, first), to, 0, to.byteSize());
        }
    }

    private long offsetOf(ScheduledRequest part, ScheduledRequest first) {
        return (part.lba() - first.lba()) * blockSize;
    }

    void giveBack(MemorySegment buffer) { buffers.giveBack(buffer); }
}
