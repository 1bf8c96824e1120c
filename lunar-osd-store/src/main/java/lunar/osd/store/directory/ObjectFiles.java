package lunar.osd.store.directory;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import lunar.block.StorageException;
import lunar.osd.store.NoSuchObjectException;
import lunar.osd.wire.ObjectId;
import org.jspecify.annotations.Nullable;

/** Opens the files of objects, and closes those that were not used for longest. Thread-safe. */
final class ObjectFiles {
    private static final System.Logger LOG = System.getLogger(ObjectFiles.class.getName());
    private static final long PAUSE_NANOS = 20_000;

    /** Where the data of an object is. */
    static final class Location {
        private final @Nullable DataFile file;
        private final @Nullable ObjectRow row;
        private final byte[] small;

        private Location(@Nullable DataFile file, @Nullable ObjectRow row, byte[] small) {
            this.file = file;
            this.row = row;
            this.small = small;
        }

        /** Returns its file, held; null if it has none. */
        @Nullable
        DataFile file() { return file; }

        /** Returns its row; null if it has a file. */
        @Nullable
        ObjectRow row() { return row; }

        /** Returns its data, if it is small. */
        byte[] small() { return small; }
    }

    private final OpenFiles files;
    private final Readers readers;
    private final CommitQueue commits;
    private final DataStore store;

    ObjectFiles(OpenFiles files, Readers readers, CommitQueue commits, DataStore store) {
        this.files = files;
        this.readers = readers;
        this.commits = commits;
        this.store = store;
    }

    OpenFiles open() { return files; }

    /**
     * Finds the data of an object.
     *
     * @throws NoSuchObjectException if it is no user object
     */
    Location locate(ObjectId object) throws StorageException {
        for (;;) {
            DataFile known = files.hold(object);
            if (known != null) {
                return new Location(known, null, new byte[0]);
            }
            long epoch = files.epoch();
            Location found = readers.run(rows -> {
                ObjectRow row = rows.userObject(object);
                return new Location(null, row, rows.small(row));
            });
            ObjectRow row = found.row();
            if (row == null || !row.hasFile()) {
                return found;
            }
            closeExcess();
            DataFile opened = open(row, epoch);
            if (opened == null) {
                LockSupport.parkNanos(PAUSE_NANOS); // the object is being changed
                continue;
            }
            if (opened.hold()) {
                if (files.add(opened, epoch)) {
                    return new Location(opened, null, found.small());
                }
                opened.release();
            }
            opened.close();
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    /**
     * Returns the data id of an object's file, the negative one of its small data, or 0.
     *
     * @throws NoSuchObjectException if the object does not exist
     */
    long dataOf(ObjectId object) throws StorageException {
        DataFile known = files.hold(object);
        if (known != null) {
            known.release();
            return known.data();
        }
        return readers.run(rows -> {
            ObjectRow row = rows.row(object);
            if (row == null) {
                throw new NoSuchObjectException(object);
            }
            return row.data();
        });
    }

    /** Opens a file; null if the row may be outdated. */
    private @Nullable DataFile open(ObjectRow row, long epoch) throws StorageException {
        boolean unsynced = files.isUnsynced(row.data());
        DataFile file;
        try {
            file = store.open(row.id(), row.data());
        } catch (NoSuchFileException _) {
            if (files.epoch() != epoch) {
                return null;
            }
            throw store.damaged(row.id(), row.data(), "is missing");
        } catch (IOException e) {
            throw Failures.of("open of " + store.directory().file(row.data()), e);
        }
        if (!unsynced && file.length() != row.length()) {
            long size = file.length();
            file.length(row.length()); // what is behind it was never acknowledged as stable
            if (size < row.length()) {
                file.close();
                if (files.epoch() != epoch) {
                    return null;
                }
                throw store.damaged(row.id(), row.data(),
                        "has " + size + " bytes instead of " + row.length());
            }
        }
        file.savedLength(row.length());
        return file;
    }

    /** Commits that the length of an object is that of its file, before it is written. */
    void markUnsynced(DataFile file) throws StorageException {
        file.freeze();
        try {
            if (file.isOpen()) {
                file.prepareSync();
                file.resize(file.length()); // the file may have been longer
            }
        } finally {
            file.unfreeze();
        }
        commits.run(objects -> {
            ObjectRow row = objects.row(file.object());
            if (row != null && row.data() == file.data()) {
                objects.markUnsynced(row);
            }
            return true;
        });
    }

    /**
     * Closes files where too many are open: those whose length is saved without a transaction, as a read must not fail
     * because the medium has no space.
     */
    private void closeExcess() {
        List<DataFile> excess = files.excess();
        var changed = new ArrayList<DataFile>();
        for (DataFile each : excess) {
            files.close(each, each.savedLength());
            if (each.isOpen() && each.length() != each.savedLength()) {
                changed.add(each);
            }
        }
        try {
            close(changed);
        } catch (StorageException e) {
            LOG.log(System.Logger.Level.DEBUG, "files stay open", e);
        }
        store.syncExcess(files);
    }

    /** Saves the lengths of files, and closes those that no thread uses. */
    void close(List<DataFile> candidates) throws StorageException {
        if (candidates.isEmpty()) {
            return;
        }
        var lengths = new HashMap<DataFile, Long>();
        candidates.forEach(file -> lengths.put(file, file.length()));
        commits.run(objects -> {
            for (DataFile each : candidates) {
                if (each.isOpen()) { // or another one may be, with a newer length
                    long length = each.length();
                    objects.saveLength(each.object(), each.data(), length);
                    lengths.put(each, length);
                }
            }
            return true;
        });
        lengths.forEach(files::close);
    }
}
