package lunar.cli.copy;

import lunar.cli.command.Failure;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * Processes a range in chunks, several of which are in flight. Only the thread that calls {@link #run} accesses the
 * state; completions only return their slot to it.
 */
abstract class ChunkQueue {
    private static final int BUFFER_ALIGNMENT_BYTES = 4096;

    /** A chunk in flight and what it needs. */
    static final class Slot {
        final BlockRequest request = new BlockRequest();
        final MemorySegment first;
        final MemorySegment second;
        long offsetBytes;
        long lengthBytes;
        int stage;
        @Nullable
        StorageException failure;

        private Slot(MemorySegment first, MemorySegment second) {
            this.first = first;
            this.second = second;
        }

        /** Returns as much of a buffer as the chunk has bytes. */
        MemorySegment part(MemorySegment buffer) {
            return buffer.asSlice(0, lengthBytes);
        }
    }

    private final BlockingQueue<Slot> ended;
    private final int depth;
    private final int chunkBytes;
    private final int buffersPerSlot;

    ChunkQueue(int depth, int chunkBytes, int buffersPerSlot) {
        this.depth = depth;
        this.chunkBytes = chunkBytes;
        this.buffersPerSlot = buffersPerSlot;
        ended = new ArrayBlockingQueue<>(depth);
    }

    /** Takes the next chunk and submits its first request; returns false if there are no more. */
    abstract boolean begin(Slot slot) throws StorageException, Failure;

    /** A request has succeeded: submits the chunk's next one; false if the chunk is done. */
    abstract boolean proceed(Slot slot) throws StorageException, Failure;

    final int chunkBytes() { return chunkBytes; }

    /** Queues the slot's request. */
    final void submit(BlockDevice device, Slot slot, BlockRequest prepared) {
        device.submit(prepared.onCompletion((_, failure) -> {
            slot.failure = failure;
            ended.add(slot); // never full: its capacity is the number of slots
        }));
    }

    /** Works until all is done, or one has failed and the others in flight have ended. */
    public final void run() throws StorageException, Failure, InterruptedException {
        try (Arena arena = Arena.ofShared()) {
            var idle = new ArrayList<Slot>();
            for (int i = 0; i < depth; i++) {
                idle.add(new Slot(buffer(arena, buffersPerSlot > 0),
                        buffer(arena, buffersPerSlot > 1)));
            }
            work(idle);
        }
    }

    private MemorySegment buffer(Arena arena, boolean wanted) {
        return wanted ? arena.allocate(chunkBytes, BUFFER_ALIGNMENT_BYTES) : MemorySegment.NULL;
    }

    private void work(List<Slot> slots) throws StorageException, Failure, InterruptedException {
        int inFlight = 0;
        try {
            for (Slot slot : slots) {
                if (!begin(slot)) {
                    break;
                }
                inFlight++;
            }
            while (inFlight > 0) {
                Slot slot = ended.take();
                inFlight--;
                if (slot.failure != null) {
                    throw slot.failure;
                }
                if (proceed(slot) || begin(slot)) {
                    inFlight++;
                }
            }
        } finally {
            drain(inFlight);
        }
    }

    /** Buffers must not go while a device uses them. */
    private void drain(int inFlight) {
        boolean interrupted = false;
        for (int left = inFlight; left > 0;) {
            try {
                ended.take();
                left--;
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
