package lunar.scsi.target.copy;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import lunar.block.BlockRequest;
import lunar.block.StorageException;
import lunar.scsi.target.FencedDevice;
import lunar.scsi.target.Nexus;
import org.jspecify.annotations.Nullable;

/**
 * Tracks writes of copies to one logical unit, regardless of the unit that received their commands. An event that ends
 * the commands of a nexus at this unit (PREEMPT AND ABORT, a reset, removal of the unit from the nexus's LUN map) also
 * stops its copies to the unit here, because they belong to another task set and would bypass the fence. Thread-safe.
 */
public final class CopyWrites {
    private final FencedDevice device;
    private final long patienceMs;
    private final Set<Writer> writers = new HashSet<>();

    /** @param patienceMs time for the device to complete the write of a stopped copy */
    public CopyWrites(FencedDevice device, long patienceMs) {
        this.device = device;
        this.patienceMs = patienceMs;
    }

    /** Registers a copy that may write to the unit until {@link Writer#close}. */
    Writer begin(Nexus nexus, CopyOperation operation) {
        var writer = new Writer(nexus, operation);
        synchronized (writers) {
            writers.add(writer);
        }
        return writer;
    }

    /**
     * Cancels the copies of some nexuses.
     *
     * @return completes when none of their writes to this unit can have a visible effect any longer: they have ended,
     *        or their blocks are fenced
     */
    public CompletableFuture<Void> stop(Predicate<Nexus> whose) {
        List<Writer> chosen;
        synchronized (writers) {
            chosen = writers.stream().filter(writer -> whose.test(writer.nexus)).toList();
        }
        return CompletableFuture.allOf(
                chosen.stream().map(Writer::stop).toArray(CompletableFuture[]::new));
    }

    /** Writes of one copy to this unit. */
    final class Writer implements AutoCloseable {
        private final Nexus nexus;
        private final CopyOperation operation;
        /** Write that the device is executing; guarded by this. */
        private @Nullable BlockRequest underWay;
        private CompletableFuture<Void> idle = CompletableFuture.completedFuture(null);
        private FencedDevice.@Nullable Confined fence;

        private Writer(Nexus nexus, CopyOperation operation) {
            this.nexus = nexus;
            this.operation = operation;
        }

        /** Executes a change of the unit. Blocks. */
        void execute(BlockRequest request) throws StorageException, CopyException {
            synchronized (this) { // either the stop detects this write, or this write detects the stop
                operation.requireGoingOn();
                underWay = request;
                idle = new CompletableFuture<>();
            }
            try {
                device.execute(request);
            } finally {
                ended();
            }
        }

        private void ended() {
            CompletableFuture<Void> waiting;
            synchronized (this) {
                underWay = null;
                if (fence != null) {
                    fence.lift();
                    fence = null;
                }
                waiting = idle;
            }
            waiting.complete(null);
        }

        private synchronized CompletableFuture<Void> stop() {
            operation.cancel();
            if (underWay == null || fence != null) {
                return CompletableFuture.completedFuture(null);
            }
            CompletableFuture<Void> gone = idle.copy();
            CompletableFuture.delayedExecutor(patienceMs, TimeUnit.MILLISECONDS)
                    .execute(() -> leaveBehind(gone));
            return gone;
        }

        /** Fences a write that hangs in the device, like the write of an aborted command. */
        private void leaveBehind(CompletableFuture<Void> gone) {
            synchronized (this) {
                if (underWay != null && fence == null) {
                    fence = device.confine(underWay).orElse(null);
                }
                if (underWay != null && fence == null) {
                    return; // the fence limit is reached: wait for the write
                }
            }
            gone.complete(null);
        }

        /** Ends the copy's writes. */
        @Override
        public void close() {
            synchronized (writers) {
                writers.remove(this);
            }
        }
    }
}
