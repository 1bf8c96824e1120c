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
 * Writes of copies to one logical unit, whichever unit has received their commands. Whatever ends the commands of a
 * nexus at this unit (PREEMPT AND ABORT, a reset, the loss of the unit from the nexus's view) stops its copies to the
 * unit here, which are commands of another task set and would write past the fence. Thread-safe.
 */
public final class CopyWrites {
    private final FencedDevice device;
    private final long patienceMs;
    private final Set<Writer> writers = new HashSet<>();

    /** @param patienceMs how long the device has to end the write of a copy that is stopped */
    public CopyWrites(FencedDevice device, long patienceMs) {
        this.device = device;
        this.patienceMs = patienceMs;
    }

    /** A copy that may write to the unit begins; until {@link Writer#close}. */
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
     * @return ends when none of their writes to this unit can be seen to change anything any more: they have ended, or
     *         their blocks are fenced
     */
    public CompletableFuture<Void> stop(Predicate<Nexus> whose) {
        List<Writer> chosen;
        synchronized (writers) {
            chosen = writers.stream().filter(writer -> whose.test(writer.nexus)).toList();
        }
        return CompletableFuture.allOf(
                chosen.stream().map(Writer::stop).toArray(CompletableFuture[]::new));
    }

    /** A copy, as far as it writes to this unit. */
    final class Writer implements AutoCloseable {
        private final Nexus nexus;
        private final CopyOperation operation;
        /** The write that the device has; guarded by this. */
        private @Nullable BlockRequest underWay;
        private CompletableFuture<Void> idle = CompletableFuture.completedFuture(null);
        private FencedDevice.@Nullable Confined fence;

        private Writer(Nexus nexus, CopyOperation operation) {
            this.nexus = nexus;
            this.operation = operation;
        }

        /** Changes the unit. Blocks. */
        void execute(BlockRequest request) throws StorageException, CopyException {
            synchronized (this) { // the stop sees this write, or this write sees the stop
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

        /** A write that hangs in the device is left behind with a fence around it, as that of a command is. */
        private void leaveBehind(CompletableFuture<Void> gone) {
            synchronized (this) {
                if (underWay != null && fence == null) {
                    fence = device.confine(underWay).orElse(null);
                }
                if (underWay != null && fence == null) {
                    return; // too much is fenced already: it is waited for
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
