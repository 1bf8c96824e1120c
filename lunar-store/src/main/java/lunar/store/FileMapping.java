package lunar.store;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * A file as memory, to be looked at and read where the page cache has it. Memory that it has not is never touched: it
 * would make this thread wait for the disk, and turn what the disk cannot read into an error of the JVM that comes at
 * any later moment. For the same reason nothing is written here, where a full disk would end so. What remains is a
 * page that goes away between the look and the use: it costs a wait, and only with a file that is truncated
 * meanwhile an error.
 */
final class FileMapping {
    private volatile MemorySegment all;

    FileMapping(FileHandle file) throws IOException { all = file.map(file.sizeBytes()); }

    /** The file has another size. */
    void refresh(FileHandle file) throws IOException {
        all = file.map(file.sizeBytes());
    }

    /** Whether the page cache has all of these bytes (mincore(2)). */
    boolean isResident(long offsetBytes, long countBytes) {
        return isResident(all, offsetBytes, countBytes);
    }

    private static boolean isResident(MemorySegment file, long offsetBytes, long countBytes) {
        return offsetBytes + countBytes <= file.byteSize()
                && file.asSlice(offsetBytes, countBytes).isLoaded();
    }

    /** Reads if the page cache has it all; returns whether it has. */
    boolean read(long offsetBytes, MemorySegment into) throws IOException {
        MemorySegment file = all;
        if (!isResident(file, offsetBytes, into.byteSize())) {
            return false;
        }
        try {
            MemorySegment.copy(file, offsetBytes, into, 0, into.byteSize());
            return true;
        } catch (InternalError e) { // SIGBUS: the file has become shorter
            throw new IOException("Input/output error", e);
        }
    }
}
