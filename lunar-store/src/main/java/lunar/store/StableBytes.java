package lunar.store;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Bytes that are written, and stable after a sync: what atomic writes are made of. */
interface StableBytes {
    /** Fills the segment from this place; what was never written, or lies behind the end, reads as anything. */
    void read(long offsetBytes, MemorySegment into) throws IOException;

    /** A crash may leave any part of it written. */
    void write(long offsetBytes, MemorySegment from) throws IOException;

    /**
     * Makes every write before it stable.
     *
     * @throws IOException when that has failed now; not because of a failure that was told before
     */
    void sync() throws IOException;
}
