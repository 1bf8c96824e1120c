package lunar.store;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * Memory mapping of a file, read only where the page cache has the data. Other pages are not accessed, because that
 * would make this thread wait for the disk, and a read error of the disk would become a JVM error at an arbitrary later
 * time. For the same reason the mapping is never written, because a full disk would have the same effect. A page may
 * still be evicted between the check and the access: that costs a wait, and causes an error only if the file is
 * truncated meanwhile.
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

    /** Unmaps pages, because the page cache keeps a mapped one; the next access maps what the cache has then. */
    void unload(long offsetBytes, long countBytes) {
        MemorySegment file = all;
        if (offsetBytes < file.byteSize()) {
            file.asSlice(offsetBytes, Math.min(countBytes, file.byteSize() - offsetBytes)).unload();
        }
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
