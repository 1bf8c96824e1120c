package lunar.osd.store;

import lunar.osd.wire.ObjectId;

/**
 * Decides whether a user object may grow: enforces quotas. The store calls it before it writes, and counts at once what
 * was permitted, so that concurrent writers do not exceed a quota together.
 *
 * @param <E> what it throws to refuse; the store then has changed nothing
 */
@FunctionalInterface
public interface Growth<E extends Exception> {
    /** Permits any growth. */
    Growth<RuntimeException> UNLIMITED = (_, _, _, _) -> {};

    /**
     * Called with the state after the growth. Must not block or use the store.
     *
     * @param object the object that is about to grow
     * @param length bytes of data of the object
     * @param usedByPartition bytes of data of all objects of its partition
     * @param used bytes of data of all objects
     */
    void check(ObjectId object, long length, long usedByPartition, long used) throws E;
}
