package lunar.osd.store.directory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.locks.Lock;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;
import lunar.osd.store.DataRange;
import lunar.osd.store.Growth;
import lunar.osd.wire.ObjectId;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Reads and writes the data of user objects. Thread-safe. */
final class ObjectData {
    /** Bytes that a copy moves at a time; such a piece is a hole of the copy if it has zeros alone. */
    private static final int COPY_BYTES = 1 << 18;

    private final ObjectFiles files;
    private final ObjectLocks locks;
    private final CommitQueue commits;
    private final DataStore store;
    private final Space space;
    private final StableStorage stability;
    private final boolean everyChange;

    ObjectData(ObjectFiles files, ObjectLocks locks, CommitQueue commits, DataStore store,
            Space space, StableStorage stability, boolean everyChange) {
        this.files = files;
        this.locks = locks;
        this.commits = commits;
        this.store = store;
        this.space = space;
        this.stability = stability;
        this.everyChange = everyChange;
    }

    long length(ObjectId object) throws StorageException {
        ObjectFiles.Location at = files.locate(object);
        DataFile file = at.file();
        if (file == null) {
            return at.small().length;
        }
        try {
            return file.length();
        } finally {
            file.release();
        }
    }

    int read(ObjectId object, long offset, MemorySegment into) throws StorageException {
        check(offset, 0);
        ObjectFiles.Location at = files.locate(object);
        DataFile file = at.file();
        if (file == null) {
            MemorySegment small = MemorySegment.ofArray(at.small());
            int count = (int) Math.min(into.byteSize(), Math.max(0, small.byteSize() - offset));
            if (count > 0) {
                MemorySegment.copy(small, offset, into, 0, count);
            }
            return count;
        }
        try {
            long count = Math.min(Math.min(into.byteSize(), Integer.MAX_VALUE),
                    Math.max(0, file.length() - offset));
            if (count > 0) {
                file.read(offset, into.asSlice(0, count));
            }
            return (int) count;
        } finally {
            file.release();
        }
    }

    <E extends Exception> void write(ObjectId object, long offset, MemorySegment from,
            Growth<E> growth) throws StorageException, E {
        check(offset, from.byteSize());
        edit(object, new Edit.Write(offset, from), offset, from.byteSize(), growth);
    }

    <E extends Exception> long append(ObjectId object, MemorySegment from, Growth<E> growth)
            throws StorageException, E {
        if (from.byteSize() == 0) {
            return length(object);
        }
        long offset = editAlone(object, new Edit.Write(-1, from), growth);
        makeStable(object);
        return offset;
    }

    <E extends Exception> void zero(ObjectId object, long offset, long count, Growth<E> growth,
            BooleanSupplier aborted) throws StorageException, E {
        check(offset, count);
        edit(object, new Edit.Zero(offset, count, aborted), offset, count, growth);
    }

    <E extends Exception> void resize(ObjectId object, long length, Growth<E> growth)
            throws StorageException, E {
        check(length, 0);
        editAlone(object, new Edit.Resize(length), growth);
        makeStable(object);
    }

    private static void check(long offset, long count) throws InvalidRequestException {
        if (offset < 0 || count < 0 || offset > Long.MAX_VALUE - count) {
            throw new InvalidRequestException("object store: no bytes " + offset + " + " + count);
        }
    }

    private <E extends Exception> void edit(ObjectId object, Edit edit, long offset, long count,
            Growth<E> growth) throws StorageException, E {
        if (count == 0) {
            length(object); // which must exist
        } else {
            if (!editWithin(object, edit, offset + count)) {
                editAlone(object, edit, growth);
            }
            makeStable(object);
        }
    }

    /** Writes within the length of a file, as other threads may at the same time; false if it is not so. */
    private boolean editWithin(ObjectId object, Edit edit, long end) throws StorageException {
        Lock lock = locks.shared(object);
        lock.lock();
        try {
            for (;;) {
                DataFile file = files.locate(object).file();
                if (file == null) {
                    return false;
                }
                boolean ready = false;
                try {
                    if (end > file.length()) {
                        return false;
                    }
                    ready = files.open().isUnsynced(file.data());
                    if (ready) {
                        edit.apply(file, file.length());
                        return true;
                    }
                } finally {
                    file.release();
                }
                files.markUnsynced(file);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Changes data while no other thread does. Returns the length before. */
    private <E extends Exception> long editAlone(ObjectId object, Edit edit, Growth<E> growth)
            throws StorageException, E {
        Lock lock = locks.exclusive(object);
        lock.lock();
        try {
            for (;;) {
                ObjectFiles.Location at = files.locate(object);
                DataFile file = at.file();
                long before = file == null
                        ? editSmall(object, at, edit, growth)
                        : editFile(file, edit, growth);
                if (before >= 0) {
                    return before;
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Changes a file that is held, and releases it. Returns the length before; -1 to try again. */
    private <E extends Exception> long editFile(DataFile file, Edit edit, Growth<E> growth)
            throws StorageException, E {
        long before = file.length();
        long after = edit.lengthAfter(before);
        try {
            if (after >= before && files.open().isUnsynced(file.data())) {
                lengthen(file, edit, before, after, growth);
                return before;
            }
        } finally {
            file.release();
        }
        if (after >= before) {
            files.markUnsynced(file);
            return -1;
        }
        return shorten(file, after) ? before : -1;
    }

    private <E extends Exception> void lengthen(DataFile file, Edit edit, long before, long after,
            Growth<E> growth) throws StorageException, E {
        long more = after - before;
        if (more > 0) {
            space.grow(file.object(), after, more, growth);
        }
        boolean done = false;
        try {
            edit.apply(file, before);
            file.length(after);
            done = true;
        } finally {
            if (!done && more > 0) {
                space.add(file.object().partition(), -more);
                file.resize(before);
            }
        }
    }

    /** Makes a file shorter; false if it is not the object's any longer. */
    private boolean shorten(DataFile file, long length) throws StorageException {
        if (!files.open().isUnsynced(file.data())) {
            files.markUnsynced(file);
        }
        if (files.open().adopted().has(file.data())) {
            commits.runStable(_ -> true); // settles how much of the file is stable
        }
        if (files.open().stable(file.data()) > length) {
            // Stable before the file is: it would seem damaged after a power loss otherwise.
            commits.runStable(objects -> {
                objects.stable(file.data(), length);
                return true;
            });
        }
        file.freeze();
        try {
            if (!file.isOpen()) {
                return false;
            }
            long before = file.length();
            file.length(length);
            boolean done = false;
            try {
                file.resize(length);
                done = true;
            } finally {
                if (!done) {
                    file.length(before);
                }
            }
            space.add(file.object().partition(), length - before);
            return true;
        } finally {
            file.unfreeze();
        }
    }

    /** Changes small data, or moves them to a file. Returns the length before; -1 to try again. */
    private <E extends Exception> long editSmall(ObjectId object, ObjectFiles.Location at,
            Edit edit, Growth<E> growth) throws StorageException, E {
        long before = at.small().length;
        long after = edit.lengthAfter(before);
        if (after > DataStore.SMALL) {
            try (Staged staged = new Staged(store)) {
                staged.write(0, MemorySegment.ofArray(at.small()));
                DataFile file = staged.file();
                edit.apply(file, before);
                file.length(after);
                if (before > 0) {
                    staged.sync(); // here, as it would keep other changes waiting there
                }
                return swap(object, at.row(), staged, growth) ? before : -1;
            }
        }
        return commits.<Long, E>run(objects -> {
            ObjectRow row = objects.userObject(object);
            if (row.hasFile()) {
                return -1L;
            }
            long length = row.length();
            long now = edit.lengthAfter(length);
            if (now > DataStore.SMALL) {
                return -1L;
            }
            if (now > length) {
                objects.grow(object, now, now - length, growth);
            }
            objects.setSmall(row, edit.apply(objects.small(row)));
            return length;
        });
    }

    private <E extends Exception> boolean swap(ObjectId object, @Nullable ObjectRow known,
            Staged staged, Growth<E> growth) throws StorageException, E {
        return commits.<Boolean, E>run(objects -> {
            ObjectRow row = objects.userObject(object);
            if (known == null || row.data() != known.data()) {
                return false;
            }
            objects.swapData(row, staged, growth);
            return true;
        });
    }

    void punch(ObjectId object, long offset, long count, BooleanSupplier aborted)
            throws StorageException {
        check(offset, count);
        Lock lock = locks.exclusive(object);
        lock.lock();
        try {
            while (!tryPunch(object, offset, count, aborted)) {
                Thread.onSpinWait();
            }
        } finally {
            lock.unlock();
        }
        makeStable(object);
    }

    private boolean tryPunch(ObjectId object, long offset, long count, BooleanSupplier aborted)
            throws StorageException {
        long data = files.dataOf(object);
        long length = length(object);
        if (count == 0 || offset >= length) {
            return true;
        }
        if (offset + count >= length) {
            editAlone(object, new Edit.Resize(offset), Growth.UNLIMITED);
            return true;
        }
        try (Staged staged = new Staged(store); Arena arena = Arena.ofConfined()) {
            MemorySegment piece = arena.allocate(Math.min(COPY_BYTES, length));
            MemorySegment zeros = arena.allocate(piece.byteSize());
            if (!copy(object, 0, offset, 0, staged, piece, zeros, aborted) || !copy(object,
                    offset + count, length, offset, staged, piece, zeros, aborted)) {
                return false;
            }
            if (staged.length() < length - count) {
                staged.resize(length - count); // ends with a hole
            }
            if (staged.small() == null) {
                staged.sync();
            }
            return commits.<Boolean, RuntimeException>run(objects -> {
                ObjectRow row = objects.userObject(object);
                if (row.data() != data) {
                    return false; // they were replaced
                }
                objects.swapData(row, staged, Growth.UNLIMITED);
                return true;
            });
        }
    }

    /** Copies data, except pieces of zeros; false if it became shorter. */
    private boolean copy(ObjectId object, long from, long end, long to, Staged into,
            MemorySegment piece, MemorySegment zeros, BooleanSupplier aborted)
            throws StorageException {
        for (long at = from; at < end;) {
            Edit.checkNot(aborted);
            MemorySegment some = piece.asSlice(0, Math.min(piece.byteSize(), end - at));
            int count = read(object, at, some);
            if (count == 0) {
                return false;
            }
            MemorySegment copied = some.asSlice(0, count);
            if (copied.mismatch(zeros.asSlice(0, count)) >= 0) {
                into.write(to + at - from, copied);
            }
            at += count;
        }
        return true;
    }

    List<DataRange> ranges(ObjectId object, long offset, int max) throws StorageException {
        check(offset, 0);
        long length = length(object);
        return offset >= length || max <= 0
                ? List.of()
                : List.of(new DataRange(offset, length - offset, true));
    }

    private void makeStable(ObjectId object) throws StorageException {
        if (everyChange) {
            flush(object);
        }
    }

    /** Makes the data of an object stable, and all changes before. */
    void flush(ObjectId object) throws StorageException {
        stability.check();
        Lock lock = locks.shared(object);
        lock.lock();
        try {
            long data = files.dataOf(object);
            if (data > 0 && files.open().isUnsynced(data)) {
                long length = store.sync(data, files.open());
                if (length < 0 && files.open().isUnsynced(data)) {
                    throw store.damaged(object, data, "is missing");
                }
                boolean more = length > files.open().stable(data);
                commits.runStable(objects -> {
                    if (more) {
                        objects.stable(data, length);
                    }
                    return true;
                });
            } else {
                commits.runStable(_ -> true);
            }
        } finally {
            lock.unlock();
        }
    }
}
