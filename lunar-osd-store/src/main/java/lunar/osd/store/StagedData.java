package lunar.osd.store;

import java.lang.foreign.MemorySegment;
import lunar.block.StorageException;

/**
 * Data that no object has yet: written first, then given to an object by a change, so that the object never has a part
 * of it. Data that is closed before, or that the end of the process overtakes, is discarded. For one thread at a time.
 */
public interface StagedData extends AutoCloseable {
    /** Writes bytes at an offset, which may lie behind the end; the gap reads as zeros. */
    void write(long offset, MemorySegment from) throws StorageException;

    /** Returns the number of bytes. */
    long length();

    /** Discards the data, unless an object has it. */
    @Override
    void close();
}
