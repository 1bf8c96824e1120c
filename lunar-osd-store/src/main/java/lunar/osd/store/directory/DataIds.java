package lunar.osd.store.directory;

import lunar.block.StorageException;

/**
 * Data ids, which are never used twice. They are reserved in blocks, so that few changes write the next one. Used
 * within transactions only.
 */
final class DataIds {
    private static final int BLOCK = 1024;

    private long next;
    private long end;

    /** Returns the first of some consecutive data ids. */
    long take(int count, Sql sql, Effects effects) throws StorageException {
        if (end - next < count) {
            long first = sql.number("SELECT next_data FROM meta");
            int reserved = Math.max(count, BLOCK);
            sql.update("UPDATE meta SET next_data = ?", first + reserved);
            next = first;
            end = first + reserved;
            effects.onUndo(() -> end = next); // the database does not know of the block then
        }
        long first = next;
        next += count;
        return first;
    }
}
