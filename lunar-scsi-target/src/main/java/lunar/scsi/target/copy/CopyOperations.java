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
 * The copy operations of one nexus at one logical unit, by list identifier (SPC-5 section 5.18.4.2). One that has ended
 * is kept until its identifier is used again, or too many others came after it. Thread-safe.
 */
public final class CopyOperations {
    /** Operations with an identifier, going on or ended; the first ones that have ended are forgotten beyond it. */
    static final int MAX_KEPT = 64;

    /** How long a device has to end a cancelled piece. */
    private static final long PATIENCE_MS = 5_000;

    private static final Sense IN_USE = Sense.of(SenseKey.ILLEGAL_REQUEST,
            AdditionalSense.OPERATION_IN_PROGRESS);
    private static final Sense TOO_MANY = Sense.of(SenseKey.ILLEGAL_REQUEST,
            AdditionalSense.INSUFFICIENT_RESOURCES);

    private final Map<Long, CopyOperation> operations = new LinkedHashMap<>();
    /** Operations that go on without a command, each with its worker. */
    private final Map<CopyOperation, Worker> background = new HashMap<>();
    /** Of these, the ones that hang in a device, with fences around what they use. */
    private final Set<CopyOperation> leftBehind = ConcurrentHashMap.newKeySet();

    /** Returns the operations of a nexus at a unit. */
    static CopyOperations of(Nexus nexus, LogicalUnit unit) {
        return nexus.kept(unit, CopyOperations.class, CopyOperations::new);
    }

    /**
     * Cancels the operations of a nexus at a unit that go on without a command (SPC-5 section 5.18.4.3); ends when none
     * of them can be seen to write any more.
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

    /** Registers an operation that goes on when its command has ended. */
    synchronized void goesOn(CopyOperation operation, Worker worker) {
        background.put(operation, worker);
        var _ = operation.ended().thenRun(() -> forget(operation));
    }

    private synchronized void forget(CopyOperation operation) { background.remove(operation); }

    /**
     * Cancels the operations that go on without a command, which could not be aborted otherwise; ends when none of them
     * can be seen to write any more.
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

    /** Cancels one. If it hangs in a device it is left behind, with a fence around what it uses, as a command is. */
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
