package lunar.osd.store.directory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.util.List;
import lunar.block.StorageException;
import lunar.osd.wire.ObjectId;

/**
 * Completes at the start of a store what its last end has interrupted: deletes files that no object has, and takes the
 * lengths of objects that were being written from their files. Reads the rows of these alone.
 */
final class Recovery {
    private static final System.Logger LOG = System.getLogger(Recovery.class.getName());

    /** Row of data whose length is that of the file; the negative of the least length if {@code stable} is negative. */
    private record Row(long data, ObjectId object, long stable) {}

    private final StoreDirectory directory;
    private final DataStore store;
    private final CommitQueue commits;

    Recovery(StoreDirectory directory, DataStore store, CommitQueue commits) {
        this.directory = directory;
        this.store = store;
        this.commits = commits;
    }

    void run() throws StorageException {
        List<Long> staged = commits.run(objects -> {
            takeLengths(objects); // first: a stable commit must not precede the data of created objects
            return objects.sql.all("SELECT data FROM staged", row -> row.getLong(1));
        });
        staged.forEach(store::discard);
        store.forgetDiscarded();
    }

    private void takeLengths(ObjectChanges objects) throws StorageException {
        List<Row> rows = objects.sql.all("SELECT data, part, object, stable FROM unsynced",
                row -> new Row(row.getLong(1),
                        new ObjectId(Keys.id(row.getLong(2)), Keys.id(row.getLong(3))),
                        row.getLong(4)));
        for (Row each : rows) {
            long size = size(each);
            if (each.stable() < 0 && size < -each.stable()) {
                LOG.log(System.Logger.Level.WARNING,
                        "object store: object {0} is removed: power was lost before all of the data"
                                + " was stable that it was created with; it was not flushed",
                        each.object());
                objects.loseObject(each.object(), each.data());
            } else if (size < 0 && each.stable() == 0) {
                objects.loseData(each.object(), each.data());
            } else if (size < each.stable()) { // also if it is missing
                LOG.log(System.Logger.Level.ERROR,
                        "object store: the data of object {0} are damaged: file {1} has {2} bytes"
                                + " instead of {3}; restore the object from a backup",
                        each.object(), directory.file(each.data()), size, each.stable());
                objects.saveLength(each.object(), each.data(), each.stable());
                objects.removeUnsynced(each.data());
            } else {
                objects.saveLength(each.object(), each.data(), size);
                objects.addUnsynced(each.object(), each.data(), each.stable(), true);
                if (each.stable() < 0) {
                    objects.overlay.files().adopted().add(each.data(), -each.stable());
                }
            }
        }
    }

    /** Returns the bytes of a file; -1 if it is missing. */
    private long size(Row row) throws StorageException {
        try {
            return Files.size(directory.file(row.data()));
        } catch (NoSuchFileException _) {
            return -1;
        } catch (IOException e) {
            throw Failures.of("size of " + directory.file(row.data()), e);
        }
    }
}
