package lunar.osd.store.directory;

import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import lunar.osd.wire.ObjectId;

/**
 * Locks of objects for writes: shared within the length of the data, exclusive to change it. They are acquired before
 * a turn in the {@link CommitQueue}, never during it, and one by one. Objects share locks by chance.
 */
final class ObjectLocks {
    private static final int COUNT = 1024;

    private final ReadWriteLock[] locks = new ReadWriteLock[COUNT];

    ObjectLocks() {
        for (int i = 0; i < COUNT; i++) {
            locks[i] = new ReentrantReadWriteLock();
        }
    }

    Lock shared(ObjectId object) { return of(object).readLock(); }

    Lock exclusive(ObjectId object) { return of(object).writeLock(); }

    private ReadWriteLock of(ObjectId object) {
        long hash = (object.partition() * 31 + object.object()) * 0x9e37_79b9_7f4a_7c15L;
        return locks[(int) (hash >>> 32) & COUNT - 1];
    }
}
