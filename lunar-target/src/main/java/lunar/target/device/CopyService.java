package lunar.target.device;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;

/**
 * What all copies of a server share: memory, of which there is as much as copies may run at once, and the ROD tokens.
 * A token made at one target can be used at another. Thread-safe.
 */
public final class CopyService {
    /** Copies that move data at once; others wait. */
    static final int MAX_RUNNING = 16;
    /** Memory of a copy. */
    static final int PIECE_BYTES = 1 << 20;

    private static final int ALIGNMENT = 4096;
    private static final long LOOK_MS = 50;

    private final Semaphore permits = new Semaphore(MAX_RUNNING);
    private final ConcurrentLinkedQueue<MemorySegment> idle = new ConcurrentLinkedQueue<>();
    private final RodTokens tokens = new RodTokens(System::nanoTime);

    public CopyService() {}

    RodTokens tokens() { return tokens; }

    /** Memory for one copy. Blocks until there is some; whoever borrows gives back. */
    MemorySegment borrow(CopyOperation operation) throws CopyException, InterruptedException {
        do {
            operation.requireGoingOn();
        } while (!permits.tryAcquire(LOOK_MS, TimeUnit.MILLISECONDS));
        MemorySegment kept = idle.poll();
        if (kept != null) {
            return kept;
        }
        try {
            return Arena.ofAuto().allocate(PIECE_BYTES, ALIGNMENT);
        } catch (OutOfMemoryError _) {
            permits.release();
            throw new CopyException(Sense.of(SenseKey.ABORTED_COMMAND,
                    AdditionalSense.INSUFFICIENT_RESOURCES));
        }
    }

    void giveBack(MemorySegment memory) {
        idle.add(memory);
        permits.release();
    }
}
