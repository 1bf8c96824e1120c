package lunar.osd.target.security;

import lunar.block.StorageException;
import lunar.osd.store.ObjectStore;
import lunar.osd.target.attribute.Values;
import lunar.osd.wire.ObjectId;

/**
 * A time in the store that no admitted nonce exceeds, so that a device that starts again refuses the nonces that it has
 * forgotten. It is ahead of them, so that it is rarely written: after a crash, nonces of up to {@link #AHEAD_MS} past
 * the last one are refused. Thread-safe.
 */
final class NonceMark {
    static final long AHEAD_MS = 10_000;

    /** The latest time of a nonce, which has 48 bits. */
    private static final long MAX_TIME_MS = (1L << 48) - 1;

    private final ObjectStore store;
    private volatile long markMs;

    NonceMark(ObjectStore store, long markMs) {
        this.store = store;
        this.markMs = markMs;
    }

    /** Makes the mark cover a nonce that is about to be admitted. */
    void cover(long timeMs) throws StorageException {
        if (timeMs > markMs) {
            raise(timeMs);
        }
    }

    private synchronized void raise(long timeMs) throws StorageException {
        if (timeMs <= markMs) {
            return;
        }
        long raised = Math.min(timeMs + AHEAD_MS, MAX_TIME_MS);
        store.<Boolean, RuntimeException>change(objects -> {
            objects.setAttribute(ObjectId.ROOT, SecretAttribute.NONCE_MARK, Values.time(raised));
            return true;
        });
        store.flush();
        markMs = raised;
    }
}
