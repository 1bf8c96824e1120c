package lunar.osd.store.memory;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.block.Usage;
import lunar.osd.store.DataRange;
import lunar.osd.store.Growth;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.StagedData;
import lunar.osd.store.Timestamp;
import lunar.osd.wire.ObjectId;

/** Objects in the heap; they are lost when the store is closed. */
public final class MemoryStore implements ObjectStore {
    private final UUID identity = UUID.randomUUID();
    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private final MemoryObjects objects = new MemoryObjects(); // guarded by lock
    private boolean closed; // guarded by lock

    /** A step that runs with the lock held. */
    @FunctionalInterface
    private interface Step<T, E extends Exception> {
        T run() throws StorageException, E;
    }

    public MemoryStore() {}

    private <T, E extends Exception> T locked(Lock by, Step<T, E> step)
            throws StorageException, E {
        by.lock();
        try {
            if (closed) {
                throw new DeviceGoneException("the object store is closed");
            }
            return step.run();
        } finally {
            by.unlock();
        }
    }

    private <T, E extends Exception> T reading(Step<T, E> step) throws StorageException, E {
        return locked(lock.readLock(), step);
    }

    private <T, E extends Exception> T changing(Step<T, E> step) throws StorageException, E {
        return locked(lock.writeLock(), step);
    }

    @Override
    public UUID identity() { return identity; }

    @Override
    public boolean isEveryChangeStable() { return false; }

    @Override
    public Usage usage() throws StorageException {
        long used = reading(() -> objects.usedBytes(0));
        Runtime heap = Runtime.getRuntime();
        return new Usage(used, heap.maxMemory() - heap.totalMemory() + heap.freeMemory());
    }

    @Override
    public <T, E extends Exception> T query(Query<T, E> query) throws StorageException, E {
        return reading(() -> query.run(objects));
    }

    @Override
    public <T, E extends Exception> T change(Change<T, E> change) throws StorageException, E {
        return changing(() -> {
            boolean done = false;
            try {
                T result = change.run(objects);
                done = true;
                return result;
            } finally {
                if (done) {
                    objects.commit();
                } else {
                    objects.rollBack();
                }
            }
        });
    }

    @Override
    public void touch(ObjectId object, Set<Timestamp> which, long timeMs)
            throws StorageException {
        changing(() -> {
            Entry entry = objects.entry(object);
            if (entry != null) {
                which.forEach(each -> entry.times.put(each, timeMs));
            }
            return which;
        });
    }

    // --- data ---

    private MemoryData data(ObjectId object) { return objects.userObject(object).data; }

    @Override
    public long length(ObjectId object) throws StorageException {
        return reading(() -> data(object).length());
    }

    @Override
    public int read(ObjectId object, long offset, MemorySegment into) throws StorageException {
        return reading(() -> data(object).read(offset, into));
    }

    @Override
    public <E extends Exception> void write(ObjectId object, long offset, MemorySegment from,
            Growth<E> growth) throws StorageException, E {
        changing(() -> {
            MemoryData data = data(object);
            grow(object, data, from.byteSize() == 0 ? 0 : end(offset, from.byteSize()), growth);
            data.write(offset, from);
            return data;
        });
    }

    @Override
    public <E extends Exception> long append(ObjectId object, MemorySegment from,
            Growth<E> growth) throws StorageException, E {
        return changing(() -> {
            MemoryData data = data(object);
            long at = data.length();
            grow(object, data, end(at, from.byteSize()), growth);
            data.write(at, from);
            return at;
        });
    }

    @Override
    public <E extends Exception> void zero(ObjectId object, long offset, long count,
            Growth<E> growth, BooleanSupplier aborted) throws StorageException, E {
        changing(() -> {
            MemoryData data = data(object);
            grow(object, data, count == 0 ? 0 : end(offset, count), growth);
            data.zero(offset, count);
            return data;
        });
    }

    @Override
    public <E extends Exception> void resize(ObjectId object, long length, Growth<E> growth)
            throws StorageException, E {
        changing(() -> {
            MemoryData data = data(object);
            grow(object, data, length, growth);
            objects.count(object.partition(), Math.min(0, length - data.length()));
            data.resize(length);
            return data;
        });
    }

    private static long end(long offset, long count) {
        long end = offset + count;
        return end < 0 ? Long.MAX_VALUE : end;
    }

    /** Checks growth, reserves the memory and counts it; no effect where data does not grow. */
    private <E extends Exception> void grow(ObjectId object, MemoryData data, long length,
            Growth<E> growth) throws StorageException, E {
        long added = length - data.length();
        if (added > 0) {
            growth.check(object, length, objects.usedBytes(object.partition()) + added,
                    objects.usedBytes(0) + added);
            data.reserve(length);
            objects.count(object.partition(), added);
        }
    }

    @Override
    public void punch(ObjectId object, long offset, long count, BooleanSupplier aborted)
            throws StorageException {
        changing(() -> {
            MemoryData data = data(object);
            long before = data.length();
            data.punch(offset, count);
            objects.count(object.partition(), data.length() - before);
            return data;
        });
    }

    @Override
    public List<DataRange> ranges(ObjectId object, long offset, int max)
            throws StorageException {
        long length = length(object);
        return offset >= length || max == 0
                ? List.of()
                : List.of(new DataRange(offset, length - offset, true));
    }

    @Override
    public StagedData stage() { return new MemoryStagedData(); }

    // --- stable storage ---

    @Override
    public void flush(ObjectId object) throws StorageException { flush(); }

    @Override
    public void flush() throws StorageException { reading(() -> closed); }

    @Override
    public void close() {
        lock.writeLock().lock();
        try {
            closed = true;
        } finally {
            lock.writeLock().unlock();
        }
    }
}
