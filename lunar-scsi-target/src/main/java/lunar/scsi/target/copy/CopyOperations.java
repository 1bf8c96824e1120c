package lunar.scsi.target.copy;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.target.FencedDevice;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.Nexus;
import lunar.scsi.target.Worker;

/**
 * The copy operations of one nexus at one logical unit, by list identifier (SPC-5 section 5.18.4.2). An operation that
 * has ended is kept until its identifier is reused or the limit is reached. Thread-safe.
 */
public final class CopyOperations {
    /** Maximum number of operations, running or ended; beyond it the oldest ended ones are dropped. */
    static final int MAX_KEPT = 64;

    /** Time for a device to complete a cancelled piece. */
    private static final long PATIENCE_MS = 5_000;

    private static final Sense IN_USE = Sense.of(SenseKey.ILLEGAL_REQUEST,
            AdditionalSense.OPERATION_IN_PROGRESS);
    private static final Sense TOO_MANY = Sense.of(SenseKey.ILLEGAL_REQUEST,
            AdditionalSense.INSUFFICIENT_RESOURCES);

    private final Map<Long, CopyOperation> operations = new LinkedHashMap<>();
    /** Operations that continue without a command, each with its worker. */
    private final Map<CopyOperation, Worker> background = new HashMap<>();
    /** Background operations that hang in a device, whose devices are fenced. */
    private final Set<CopyOperation> leftBehind = ConcurrentHashMap.newKeySet();

    /** Returns the operations of a nexus at a unit. */
    static CopyOperations of(Nexus nexus, LogicalUnit unit) {
        return nexus.kept(unit, CopyOperations.class, CopyOperations::new);
    }

    /**
     * Cancels the background operations of a nexus at a unit (SPC-5 section 5.18.4.3); completes when none of their
     * writes can have an effect any longer.
     */
    public static CompletableFuture<Void> cancel(Nexus nexus, LogicalUnit unit) {
        return nexus.kept(unit, CopyOperations.class).map(CopyOperations::cancel)
                .orElseGet(() -> CompletableFuture.completedFuture(null));
    }

    /** Begins an operation. */
    synchronized void begin(long identifier, CopyOperation operation) throws CopyException {
        CopyOperation before = operations.get(identifier);
        if (before != null && !before.hasEnded()) {
            throw new CopyException(IN_USE);
        }
        operations.remove(identifier);
        if (operations.size() >= MAX_KEPT) {
            var oldest = operations.entrySet().stream()
                    .filter(entry -> entry.getValue().hasEnded()).findFirst();
            if (oldest.isEmpty()) {
                throw new CopyException(TOO_MANY);
            }
            operations.remove(oldest.get().getKey());
        }
        operations.put(identifier, operation);
    }

    /** Registers an operation that continues after its command has ended. */
    synchronized void goesOn(CopyOperation operation, Worker worker) {
        background.put(operation, worker);
        var _ = operation.ended().thenRun(() -> forget(operation));
    }

    private synchronized void forget(CopyOperation operation) { background.remove(operation); }

    /**
     * Cancels the background operations, which could not be aborted otherwise; completes when none of their writes can
     * have an effect any longer.
     */
    CompletableFuture<Void> cancel() {
        Map<CopyOperation, Worker> all;
        synchronized (this) {
            all = Map.copyOf(background);
        }
        return CompletableFuture.allOf(all.entrySet().stream()
                .map(entry -> cancel(entry.getKey(), entry.getValue()))
                .toArray(CompletableFuture[]::new));
    }

    /**
     * Cancels an operation. If it hangs in a device, the operation is detached and its devices are fenced, like for a
     * command.
     */
    private CompletableFuture<Void> cancel(CopyOperation operation, Worker worker) {
        operation.cancel();
        if (leftBehind.contains(operation)) {
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<Void> gone = operation.ended().copy();
        CompletableFuture.delayedExecutor(PATIENCE_MS, TimeUnit.MILLISECONDS).execute(() -> {
            if (leftBehind.contains(operation) || leaveBehind(operation, worker)) {
                gone.complete(null);
            }
        });
        return gone;
    }

    private boolean leaveBehind(CopyOperation operation, Worker worker) {
        Optional<List<FencedDevice.Confined>> fences = operation.hasEnded()
                ? Optional.empty()
                : worker.leaveBehind();
        if (fences.isEmpty()) {
            return false;
        }
        leftBehind.add(operation);
        var _ = operation.ended().thenRun(() -> {
            fences.get().forEach(FencedDevice.Confined::lift);
            leftBehind.remove(operation);
        });
        return true;
    }

    synchronized Optional<CopyOperation> find(long identifier) {
        return Optional.ofNullable(operations.get(identifier));
    }
}
