package lunar.osd.store.directory;

import java.sql.SQLException;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/** A pool of connections that read, each query in a consistent state. Thread-safe. */
final class Readers implements AutoCloseable {
    /** A query. */
    @FunctionalInterface
    interface Query<T, E extends Exception> {
        T run(ObjectRows objects) throws StorageException, E;
    }

    private static final int MAX = Math.clamp(Runtime.getRuntime().availableProcessors(), 4, 16);

    private final StoreDirectory directory;
    private final Overlay overlay;
    private final Semaphore permits = new Semaphore(MAX);
    private final ConcurrentLinkedDeque<ObjectRows> idle = new ConcurrentLinkedDeque<>();
    private volatile boolean closed;

    Readers(StoreDirectory directory, Overlay overlay) {
        this.directory = directory;
        this.overlay = overlay;
    }

    <T, E extends Exception> T run(Query<T, E> query) throws StorageException, E {
        permits.acquireUninterruptibly();
        @Nullable
        ObjectRows rows = null;
        boolean inOrder = false;
        overlay.files().beginQuery();
        try {
            rows = take();
            rows.sql.control("BEGIN");
            try {
                return query.run(rows);
            } finally {
                rows.sql.control("COMMIT");
                inOrder = !rows.sql.takeFailed();
            }
        } finally {
            overlay.files().endQuery();
            if (rows != null) {
                putBack(rows, inOrder);
            }
            permits.release();
        }
    }

    private ObjectRows take() throws StorageException {
        if (closed) {
            throw new DeviceGoneException("object store: closed");
        }
        ObjectRows rows = idle.pollFirst();
        if (rows != null) {
            return rows;
        }
        try {
            return new ObjectRows(Sql.reading(directory.database(), directory.steps()), overlay);
        } catch (SQLException e) {
            throw Failures.of(e);
        }
    }

    private void putBack(ObjectRows rows, boolean inOrder) throws StorageException {
        if (inOrder) {
            idle.addFirst(rows);
        } else {
            rows.sql.close();
        }
    }

    /** Fails queries from now on; returns when those before have ended. */
    @Override
    public void close() throws StorageException {
        closed = true;
        permits.acquireUninterruptibly(MAX);
        try {
            for (ObjectRows rows; (rows = idle.poll()) != null;) {
                rows.sql.close();
            }
        } finally {
            permits.release(MAX);
        }
    }
}
