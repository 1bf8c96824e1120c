package lunar.server;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * The devices that a server closes: those that its plan no longer contains, and all of them when it stops. Flushes and
 * closes them concurrently, so that one that hangs does not hold up others. No device needs another one of the same
 * server for that: a volume has opened its members itself. Remembers failures until the server stops. Thread-safe.
 */
final class ClosingDevices {
    /** Number of devices that are closed at a time; each also has a thread for its flush. */
    private static final int MAX_THREADS = 256;

    /** Number of failures that are remembered; all of them are logged. */
    private static final int MAX_FAILURES = 100;

    /**
     * A device that is being closed, or whose close has failed.
     *
     * @param identity its identity before the close
     * @param end completes when it is closed, with the failure if there is one
     */
    record Closing(ServedDevices.Open open, UUID identity,
            CompletableFuture<Optional<StorageException>> end) {
        boolean hasFailed() { return end.isDone() && end.join().isPresent(); }

        boolean isOf(DeviceKey key) { return open.key().withoutSize().equals(key.withoutSize()); }
    }

    private final ServerListener listener;
    private final ClosingLimits limits;
    private final Executor threads = threads();
    /** Completes when no device waits for its commands any longer, because the server stops. */
    private final CompletableFuture<Void> stopping = new CompletableFuture<>();
    private final List<Closing> removed = new ArrayList<>(); // guarded by this

    ClosingDevices(ServerListener listener, ClosingLimits limits) {
        this.listener = listener;
        this.limits = limits;
    }

    private static Executor threads() {
        var pool = new ThreadPoolExecutor(MAX_THREADS, MAX_THREADS, 1, TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                Thread.ofPlatform().daemon().name("lunar-close-", 0).factory());
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    /**
     * Flushes and closes a device that the plan no longer contains.
     *
     * @param ended completes when no command uses it any longer
     */
    Closing remove(ServedDevices.Open open, CompletableFuture<Void> ended) {
        Closing closing = of(open);
        synchronized (this) {
            removed.add(closing);
        }
        var _ = close(open, CompletableFuture.anyOf(ended, stopping)).thenAccept(failure -> {
            failure.ifPresent(why -> listener.warned(open.name(), why));
            end(closing, failure.isPresent());
            closing.end().complete(failure);
        });
        return closing;
    }

    private static Closing of(ServedDevices.Open open) {
        return new Closing(open, open.source().identity(), new CompletableFuture<>());
    }

    private CompletableFuture<Optional<StorageException>> close(ServedDevices.Open open,
            CompletableFuture<?> after) {
        return after.handleAsync((_, _) -> {
            try {
                open.source().close(limits.flush());
                return Optional.<StorageException>empty();
            } catch (StorageException e) {
                return Optional.of(e);
            }
        }, threads).exceptionally(bug -> Optional.of(new DeviceGoneException(
                open.name() + " could not be closed: unexpected " + bug, bug)));
    }

    /** Forgets a device that is closed, unless a failure is to be remembered. */
    private synchronized void end(Closing closing, boolean hasFailed) {
        long failures = removed.stream().filter(Closing::hasFailed).count();
        if (!hasFailed || failures >= MAX_FAILURES) {
            removed.remove(closing);
        }
    }

    /** Waits for the close of a device that was removed; returns it if it goes on. */
    Optional<Closing> awaitClosed(Predicate<Closing> which) {
        return find(which).filter(
                closing -> !ClosingLimits.hasEnded(closing.end(), limits.commands()));
    }

    private synchronized Optional<Closing> find(Predicate<Closing> which) {
        return removed.stream().filter(closing -> !closing.end().isDone()).filter(which)
                .findFirst();
    }

    /** Waits for a short time, and warns on this thread of devices that are not closed then, or not in order. */
    void warnOf(List<Closing> removedNow) {
        boolean _ = ClosingLimits.hasEnded(all(removedNow), limits.answer());
        for (Closing closing : removedNow) {
            String name = closing.open().name();
            if (!closing.end().isDone()) {
                listener.warned(name + " is still being flushed; a failure will be in the log",
                        null);
            } else if (closing.hasFailed()) {
                listener.warned(name + " could not be flushed and closed; the log has the cause",
                        null);
            }
        }
    }

    /**
     * Flushes and closes the devices that are served, and waits for those that were removed before.
     *
     * @param atEnd runs when all devices are closed; that may be later if a device hangs
     * @throws StorageException if a device could not be flushed or closed, also one that was removed before; other
     *         failures are suppressed in it, and the listener has been told of them
     */
    void stop(Collection<ServedDevices.Open> served, Runnable atEnd) throws StorageException {
        List<Closing> before = removed();
        var all = new ArrayList<>(before);
        for (ServedDevices.Open open : served) {
            Closing closing = of(open);
            all.add(closing);
            var _ = close(open, CompletableFuture.completedFuture(null))
                    .thenAccept(closing.end()::complete);
        }
        CompletableFuture<Void> end = all(all).thenRun(atEnd);
        if (!ClosingLimits.hasEnded(end, limits.commands())) {
            boolean _ = stopping.complete(null);
        }
        boolean _ = ClosingLimits.hasEnded(end, limits.stop());
        StorageException first = null;
        for (int i = 0; i < all.size(); i++) {
            StorageException failure = failure(all.get(i), i < before.size());
            if (first == null) {
                first = failure;
            } else if (failure != null && failure != first) {
                first.addSuppressed(failure);
                listener.warned(all.get(i).open().name(), failure);
            }
        }
        if (first != null) {
            throw first;
        }
    }

    private synchronized List<Closing> removed() { return List.copyOf(removed); }

    private static CompletableFuture<Void> all(List<Closing> closings) {
        return CompletableFuture.allOf(
                closings.stream().map(Closing::end).toArray(CompletableFuture[]::new));
    }

    /** Returns why a device was not closed, or not in order; null if it was. */
    private @Nullable StorageException failure(Closing closing, boolean wasRemoved) {
        String name = closing.open().name();
        if (!closing.end().isDone()) {
            return new DeviceGoneException(name + " could not be flushed and closed within "
                    + limits.stop().toSeconds() + " s; data that it acknowledged may be lost");
        }
        StorageException failure = closing.end().join().orElse(null);
        return failure == null || !wasRemoved
                ? failure
                : new DeviceGoneException(name + " was removed while the server ran, and could not"
                        + " be flushed and closed: " + failure.getMessage(), failure);
    }
}
