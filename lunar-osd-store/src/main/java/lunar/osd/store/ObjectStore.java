package lunar.osd.store;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import lunar.block.StorageException;
import lunar.block.Usage;
import lunar.osd.wire.ObjectId;

/**
 * A store of objects: partitions with collections and user objects, their attributes, and the data of user objects. It
 * enforces that the objects form a name space, and nothing else: what identifiers and attributes are permitted is the
 * concern of its user.
 *
 * <p><b>Durability.</b> A change of the name space or of attributes, a write, and a removal have survived the end of
 * the process, however it ends, when the method returns; power loss may undo them until a flush. It undoes changes of
 * the name space and of attributes from the last one on, in their order, except that it may remove an object that was
 * created with data; of data that was written in place it leaves any part. A flush has survived power loss when it
 * returns. A store may be opened so that every change is flushed. Timestamps set by {@link #touch} may be lost until
 * the next flush.
 *
 * <p><b>Atomicity.</b> A change takes effect as a whole or not at all, for other threads and after a crash. Data is
 * written in place: a crash during a write leaves any part of its range written. {@link #punch} is atomic.
 *
 * <p>Thread-safe. Methods that concern an object that does not exist, or is no user object where data is concerned,
 * throw {@link NoSuchObjectException}; all throw {@link StorageException} where the store fails, with no effect on
 * other objects. Offsets and lengths are bytes and not negative.
 */
public interface ObjectStore extends AutoCloseable {
    /**
     * Reads a consistent state of the name space and the attributes.
     *
     * @param <T> the result
     * @param <E> what it throws besides
     */
    @FunctionalInterface
    interface Query<T, E extends Exception> {
        T run(ObjectReader objects) throws StorageException, E;
    }

    /**
     * Changes the name space and attributes. What it throws undoes all of it. It should be short, and must not use the
     * store other than by its parameter.
     *
     * @param <T> the result
     * @param <E> what it throws besides
     */
    @FunctionalInterface
    interface Change<T, E extends Exception> {
        T run(ObjectWriter objects) throws StorageException, E;
    }

    /** Returns the identity of the store, which is created with it and survives {@link ObjectWriter#clear}. */
    UUID identity();

    /** Whether every change and every write waits until it is on stable storage. */
    boolean isEveryChangeStable();

    /** Returns the bytes that are in use and that are free, of the medium. */
    Usage usage() throws StorageException;

    /** Runs a query. */
    <T, E extends Exception> T query(Query<T, E> query) throws StorageException, E;

    /** Runs a change. */
    <T, E extends Exception> T change(Change<T, E> change) throws StorageException, E;

    /** Sets timestamps; no effect on an object that does not exist. Cheap, for each access. */
    void touch(ObjectId object, Set<Timestamp> which, long timeMs) throws StorageException;

    // --- data of user objects ---

    /** Returns the bytes of data. */
    long length(ObjectId object) throws StorageException;

    /**
     * Reads data.
     *
     * @param into memory of any size; bytes behind those that were read keep their content
     * @return bytes that were read: fewer than asked for at the end of the data, 0 behind it
     */
    int read(ObjectId object, long offset, MemorySegment into) throws StorageException;

    /** Writes data, which grows where necessary; a gap reads as zeros. */
    <E extends Exception> void write(ObjectId object, long offset, MemorySegment from,
            Growth<E> growth) throws StorageException, E;

    /**
     * Writes behind the end of the data.
     *
     * @return offset of the first byte that was written
     */
    <E extends Exception> long append(ObjectId object, MemorySegment from, Growth<E> growth)
            throws StorageException, E;

    /** Makes a range read as zeros; the data grows if the range ends behind it. */
    default <E extends Exception> void zero(ObjectId object, long offset, long count,
            Growth<E> growth) throws StorageException, E {
        zero(object, offset, count, growth, () -> false);
    }

    /**
     * Makes a range read as zeros, which takes long if it is large.
     *
     * @param aborted whether to end early, with any part of the range zeros; asked now and then
     * @throws lunar.block.AbortedException if so
     */
    <E extends Exception> void zero(ObjectId object, long offset, long count, Growth<E> growth,
            BooleanSupplier aborted) throws StorageException, E;

    /** Sets the length: drops what is behind it, or grows by zeros. */
    <E extends Exception> void resize(ObjectId object, long length, Growth<E> growth)
            throws StorageException, E;

    /** Cuts a range out: what is behind it moves down. A range that ends behind the data truncates it. */
    default void punch(ObjectId object, long offset, long count) throws StorageException {
        punch(object, offset, count, () -> false);
    }

    /**
     * Cuts a range out, which takes long for a large object.
     *
     * @param aborted whether to end early, with no effect; asked now and then
     * @throws lunar.block.AbortedException if so
     */
    void punch(ObjectId object, long offset, long count, BooleanSupplier aborted)
            throws StorageException;

    /**
     * Returns written ranges and holes, in ascending order without gaps, up to the end of the data.
     *
     * @param max most ranges
     */
    List<DataRange> ranges(ObjectId object, long offset, int max) throws StorageException;

    /** Creates data that no object has yet. */
    StagedData stage() throws StorageException;

    // --- stable storage ---

    /** Makes the data and the attributes of an object stable, and all changes of the name space made before. */
    void flush(ObjectId object) throws StorageException;

    /** Makes everything stable. */
    void flush() throws StorageException;

    /** Makes everything stable and closes the store. */
    @Override
    void close() throws StorageException;
}
