package lunar.osd.store.directory;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import lunar.block.DeviceGoneException;
import lunar.block.MediumException;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * Combines the changes of several threads into one transaction (group commit). The thread whose change is the first in
 * the queue executes all that wait, and commits once; the others wait for it. A thread that is alone executes its own
 * change without any other thread. An exception undoes only the change that throws it; if the database fails, all fail.
 *
 * <p>A transaction that is to be stable commits with {@code synchronous=FULL}, which makes the whole write-ahead log
 * stable, and with it all transactions before. Thread-safe.
 */
final class CommitQueue implements AutoCloseable {
    /** A change. */
    @FunctionalInterface
    interface Change<T, E extends Exception> {
        T run(ObjectChanges objects) throws StorageException, E;
    }

    /** Changes that one transaction takes. */
    private static final int MAX_BATCH = 128;

    /** A change in the queue; guarded by the lock, except while it is executed. */
    private static final class Request {
        final Change<?, ?> change;
        final boolean stable;
        /** Whether it needs a transaction of its own. */
        final boolean alone;
        final Condition turn;
        Effects effects = new Effects();
        @Nullable
        Object result;
        @Nullable
        Throwable failure;
        boolean done;

        Request(Change<?, ?> change, boolean stable, boolean alone, Condition turn) {
            this.change = change;
            this.stable = stable;
            this.alone = alone;
            this.turn = turn;
        }
    }

    private final Sql sql;
    private final Overlay overlay;
    private final StableStorage stability;
    private final boolean everyChange;
    private final PlatformThreads threads;
    private final DataIds ids = new DataIds();

    private final ReentrantLock lock = new ReentrantLock();
    /** The first is executing, with some of those behind it. */
    private final ArrayDeque<Request> queue = new ArrayDeque<>();
    private boolean closed;

    /** Whether something was committed that may not be stable; the next three only by the executing thread. */
    private boolean unstable = true;
    private boolean full;
    private boolean broken;

    CommitQueue(Sql sql, Overlay overlay, StableStorage stability, boolean everyChange,
            PlatformThreads threads) {
        this.sql = sql;
        this.overlay = overlay;
        this.stability = stability;
        this.everyChange = everyChange;
        this.threads = threads;
    }

    /** Executes a change, which is stable afterwards if all are to be. */
    <T, E extends Exception> T run(Change<T, E> change) throws StorageException, E {
        return execute(change, everyChange);
    }

    /** Executes a change and makes it stable, and all before. */
    <T, E extends Exception> T runStable(Change<T, E> change) throws StorageException, E {
        return execute(change, true);
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // a change returns a T
    private <T, E extends Exception> T execute(Change<T, E> change, boolean stable)
            throws StorageException, E {
        if (stable) {
            stability.check();
            syncAdopted();
        }
        Request mine = new Request(change, stable, false, lock.newCondition());
        List<Request> batch = await(mine, false);
        if (!batch.isEmpty()) {
            try {
                if (stable || batch.stream().anyMatch(each -> each.stable)) {
                    threads.run(() -> execute(batch));
                } else {
                    execute(batch);
                }
            } catch (RuntimeException | Error e) { // no thread, or no memory
                for (Request each : batch) {
                    each.failure = each.failure == null ? e : each.failure;
                }
            } finally {
                complete(batch);
            }
        }
        CommitQueue.<E>check(mine);
        return (T) mine.result;
    }

    @SuppressWarnings("unchecked") // a change throws an E or what is unchecked
    private static <E extends Exception> void check(Request request) throws StorageException, E {
        Throwable failure = request.failure;
        switch (failure) {
            case null -> {
            }
            case StorageException known -> throw known;
            case RuntimeException known -> throw known;
            case Error known -> throw known;
            default -> throw (E) failure;
        }
    }

    /** Waits until a change is done, or the first: then returns it with others to execute. */
    private List<Request> await(Request mine, boolean closes) throws StorageException {
        lock.lock();
        try {
            if (closes) {
                closed = true;
            } else if (closed) {
                throw new DeviceGoneException("object store: closed");
            }
            queue.add(mine);
            while (!mine.done && queue.peek() != mine) {
                mine.turn.awaitUninterruptibly();
            }
            if (mine.done) {
                return List.of();
            }
            return mine.alone
                    ? List.of(mine)
                    : queue.stream().takeWhile(each -> !each.alone).limit(MAX_BATCH).toList();
        } finally {
            lock.unlock();
        }
    }

    private void complete(List<Request> batch) {
        lock.lock();
        try {
            for (Request each : batch) {
                queue.remove();
                each.done = true;
                each.turn.signal();
            }
            Request next = queue.peek();
            if (next != null) {
                next.turn.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    private void execute(List<Request> batch) {
        var objects = new ObjectChanges(sql, overlay, ids, everyChange);
        boolean stable = batch.stream().anyMatch(each -> each.stable);
        boolean committed = false;
        try {
            if (broken) {
                rollBack();
            }
            level(stable);
            broken = true;
            sql.takeFailed();
            sql.control("BEGIN IMMEDIATE");
            long before = sql.changedRows();
            if (!overlay.space().isFull()) { // or removals would fail for lack of the space that these need
                overlay.touches().write(sql);
            }
            for (Request each : batch) {
                execute(each, objects, batch.size() > 1);
            }
            if (batch.size() == 1 && batch.getFirst().failure != null) {
                rollBack();
                return;
            }
            if (stable && unstable) {
                sql.update("UPDATE meta SET flushes = flushes + 1"); // or nothing would be synced
            }
            commit(batch, recordAdopted(stable));
            committed = true;
            broken = false;
            unstable = !stable && (unstable || sql.changedRows() != before);
        } catch (StorageException e) {
            if (e instanceof NoSpaceException) {
                overlay.space().full();
            }
            stability.failedIfLost(e);
            fail(batch, e);
        } catch (RuntimeException | Error e) {
            fail(batch, e);
        } finally {
            overlay.touches().written(committed);
        }
    }

    private void execute(Request request, ObjectChanges objects, boolean amongOthers)
            throws StorageException {
        objects.begin(request.effects);
        if (amongOthers) {
            sql.control("SAVEPOINT one");
        }
        try {
            request.result = request.change.run(objects);
        } catch (Throwable e) { // whatever it is, it is the caller's
            request.failure = e;
        }
        if (sql.takeFailed()) { // then the database may have undone everything
            throw request.failure instanceof StorageException known
                    ? known
                    : new MediumException("object store: a change failed",
                            request.failure);
        }
        if (request.failure != null) {
            request.effects.undo();
            request.effects = new Effects();
            if (amongOthers) {
                sql.control("ROLLBACK TO one");
            }
        }
        if (amongOthers) {
            sql.control("RELEASE one");
        }
    }

    /**
     * Records adopted files as stable. Before a stable commit it makes them so: those that were adopted since its
     * callers did it, as it keeps other changes waiting.
     */
    private Map<Long, Long> recordAdopted(boolean stable) throws StorageException {
        if (stable) {
            stability.sync(overlay.files());
        }
        Map<Long, Long> synced = overlay.files().adopted().synced();
        for (Map.Entry<Long, Long> each : synced.entrySet()) {
            sql.update("UPDATE unsynced SET stable = max(stable, ?) WHERE data = ?",
                    each.getValue(), each.getKey());
        }
        return synced;
    }

    /** Makes adopted files stable. */
    void syncAdopted() throws StorageException {
        if (overlay.files().adopted().allSynced()) {
            return;
        }
        var failure = new StorageException[1];
        threads.run(() -> {
            try {
                stability.sync(overlay.files());
            } catch (StorageException e) {
                failure[0] = e;
            }
        });
        if (failure[0] != null) {
            throw failure[0];
        }
    }

    private void commit(List<Request> batch, Map<Long, Long> adopted) throws StorageException {
        var dropped = new Dropped();
        batch.forEach(each -> dropped.addAll(each.effects.dropped()));
        List<DataFile> frozen = overlay.files().freeze(dropped);
        boolean committed = false;
        try {
            end(batch);
            committed = true;
            batch.forEach(each -> each.effects.complete());
            overlay.files().adoptedStable(adopted);
        } finally {
            overlay.files().thaw(dropped, frozen, committed);
        }
    }

    /** Commits. The log may have the commit even if that fails, and the next start goes by the log. */
    private void end(List<Request> batch) throws StorageException {
        try {
            sql.control("COMMIT");
        } catch (StorageException e) {
            if (Failures.mayBeCommitted(e)) {
                batch.forEach(each -> each.effects.uncertain());
            }
            throw e;
        }
    }

    /** Sets whether the next commit is to be stable. */
    private void level(boolean stable) throws StorageException {
        if (full != stable) {
            sql.execute(stable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
            full = stable;
        }
    }

    private void fail(List<Request> batch, Throwable failure) {
        for (Request each : batch.reversed()) {
            each.effects.undo();
            if (each.failure == null) {
                each.failure = failure;
            }
        }
        rollBack();
    }

    /** Ends the transaction, which the database may have ended by itself. */
    private void rollBack() {
        try {
            sql.execute("ROLLBACK");
            broken = false;
        } catch (StorageException e) {
            broken = !String.valueOf(e.getMessage()).contains("no transaction is active");
        }
    }

    /** Runs a task while no change is executed, such as a checkpoint that is to be complete. */
    void pause(Runnable task) throws StorageException {
        runAlone(task, false);
    }

    private void runAlone(Runnable task, boolean closes) throws StorageException {
        Request mine = new Request(_ -> true, false, true, lock.newCondition());
        List<Request> batch = await(mine, closes);
        try {
            task.run();
        } finally {
            complete(batch);
        }
    }

    /** Fails changes from now on; returns when those before have ended. */
    @Override
    public void close() throws StorageException { runAlone(() -> {}, true); }
}
