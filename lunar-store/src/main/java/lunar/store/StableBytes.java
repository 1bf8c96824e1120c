package lunar.store;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Byte storage with an explicit sync, on which atomic writes are built. */
interface StableBytes {
    /** Fills the segment from this position; bytes never written, or beyond the end, are undefined. */
    void read(long offsetBytes, MemorySegment into) throws IOException;

    /** A crash may leave any part of it written. */
    void write(long offsetBytes, MemorySegment from) throws IOException;

    /**
     * Makes all earlier writes stable.
     *
     * @throws IOException if this sync fails; not because of a failure reported before
     */
    void sync() throws IOException;
}
