package lunar.osd.store.directory;

/**
 * State that the memory has newer than the database.
 *
 * @param space used bytes of partitions
 * @param touches timestamps
 * @param files lengths of objects whose file is open
 */
record Overlay(Space space, Touches touches, OpenFiles files) {
    /** Returns an object's bytes of data. */
    long length(ObjectRow row) {
        return row.hasFile() ? files.length(row.data(), row.length()) : row.length();
    }
}
