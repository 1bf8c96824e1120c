/**
 * The embedded object store: a directory with an SQLite database for names, attributes and small data, and a file for
 * the data of each larger object (docs/osd-store.md). {@link lunar.osd.store.directory.DirectoryObjectStore} opens it;
 * all other types are internal.
 *
 * <p>References go one way: {@code ObjectRows} and {@code ObjectChanges} are SQL, {@code CommitQueue} combines changes
 * into transactions, {@code OpenFiles} has the files that are open, {@code ObjectData} is reading and writing on top
 * of both, {@code Housekeeping} does in the background what need not be done at once.
 *
 * <p>Locks are acquired in this order: the lock of an object in {@code ObjectLocks}; the turn in {@code CommitQueue};
 * the lock of a {@code DataFile}; {@code Space}.
 */
@NullMarked
package lunar.osd.store.directory;

import org.jspecify.annotations.NullMarked;
