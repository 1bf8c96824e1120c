package lunar.scsi.target.copy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;

/**
 * Resources that all copies of a server share: memory for the copies that may run concurrently, and the ROD tokens. A
 * token created at one target can be used at another. Thread-safe.
 */
public final class CopyService {
    /** Maximum number of copies that move data concurrently; others wait. */
    static final int MAX_RUNNING = 16;
    /** Maximum number of copies of one initiator that move data concurrently. */
    static final int MAX_OF_INITIATOR = MAX_RUNNING / 2;
    /** Memory of a copy. */
    static final int PIECE_BYTES = 1 << 20;

    private static final int ALIGNMENT = 4096;
    private static final long LOOK_MS = 50;

    private final Semaphore permits = new Semaphore(MAX_RUNNING);
    /** Permits that each initiator has taken, by name. */
    private final Map<String, Integer> taken = new HashMap<>();
    private final ConcurrentLinkedQueue<MemorySegment> idle = new ConcurrentLinkedQueue<>();
    private final RodTokens tokens = new RodTokens(System::nanoTime);

    public CopyService() {}

    /** The ROD tokens. */
    public RodTokens tokens() { return tokens; }

    /** Lends memory for a copy of an initiator. Blocks until some is available; the caller gives it back. */
    MemorySegment borrow(CopyOperation operation, String initiatorName)
            throws CopyException, InterruptedException {
        operation.requireGoingOn();
        while (!takeShare(initiatorName)) {
            Thread.sleep(LOOK_MS);
            operation.requireGoingOn();
        }
        boolean permitted = false;
        try {
            while (!permits.tryAcquire(LOOK_MS, TimeUnit.MILLISECONDS)) {
                operation.requireGoingOn();
            }
            permitted = true;
        } finally {
            if (!permitted) {
                giveShareBack(initiatorName);
            }
        }
        MemorySegment kept = idle.poll();
        if (kept != null) {
            return kept;
        }
        try {
            return Arena.ofAuto().allocate(PIECE_BYTES, ALIGNMENT);
        } catch (OutOfMemoryError _) {
            giveShareBack(initiatorName);
            permits.release();
            throw new CopyException(Sense.of(SenseKey.ABORTED_COMMAND,
                    AdditionalSense.INSUFFICIENT_RESOURCES));
        }
    }

    void giveBack(MemorySegment memory, String initiatorName) {
        idle.add(memory);
        giveShareBack(initiatorName);
        permits.release();
    }

    private boolean takeShare(String initiatorName) {
        synchronized (taken) {
            int count = taken.getOrDefault(initiatorName, 0);
            if (count == MAX_OF_INITIATOR) {
                return false;
            }
            taken.put(initiatorName, count + 1);
            return true;
        }
    }

    private void giveShareBack(String initiatorName) {
        synchronized (taken) {
            taken.computeIfPresent(initiatorName, (_, count) -> count == 1 ? null : count - 1);
        }
    }
}
