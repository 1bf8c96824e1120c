package lunar.osd.store.directory;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import lunar.block.StorageException;
import lunar.osd.store.StagedData;
import lunar.osd.wire.ObjectId;
import org.jspecify.annotations.Nullable;

/** Data that no object has yet: in memory while it is small, then in a file. */
final class Staged implements StagedData {
    private final DataStore store;
    private byte @Nullable [] small = new byte[0];
    private @Nullable DataFile file;
    private boolean given;
    /** Has the file, if an object does. */
    private @Nullable OpenFiles owner;
    private boolean synced;

    Staged(DataStore store) { this.store = store; }

    @Override
    public void write(long offset, MemorySegment from) throws StorageException {
        long count = from.byteSize();
        if (count == 0) {
            return;
        }
        byte[] memory = small;
        if (memory != null && count <= DataStore.SMALL && offset <= DataStore.SMALL - count) {
            int end = (int) (offset + count);
            byte[] longer = memory.length < end ? Arrays.copyOf(memory, end) : memory;
            MemorySegment.ofArray(longer).asSlice(offset, count).copyFrom(from);
            small = longer;
            return;
        }
        DataFile target = file();
        synced = false;
        target.write(offset, from);
        target.length(Math.max(target.length(), offset + count));
    }

    /** Moves the data to a file, if it is not there. */
    DataFile file() throws StorageException {
        DataFile known = file;
        if (known != null) {
            return known;
        }
        DataFile created = store.createFile(ObjectId.ROOT);
        file = created;
        byte[] memory = small;
        if (memory != null) {
            created.write(0, MemorySegment.ofArray(memory));
            created.length(memory.length);
        }
        small = null;
        return created;
    }

    /** Makes the data longer by zeros, or shorter. */
    void resize(long length) throws StorageException {
        byte[] memory = small;
        if (memory != null && length <= DataStore.SMALL) {
            small = Arrays.copyOf(memory, (int) length);
            return;
        }
        DataFile target = file();
        synced = false;
        target.resize(length);
        target.length(length);
    }

    @Override
    public long length() {
        DataFile known = file;
        byte[] memory = small;
        return known != null ? known.length() : memory == null ? 0 : memory.length;
    }

    /** Returns the data while it is small; null if it is in a file. */
    byte @Nullable [] small() {
        return small;
    }

    /** Returns the data id of the file. */
    long data() throws StorageException {
        return file().data();
    }

    /** Makes the file and the entries that lead to it stable, unless they are. */
    void sync() throws StorageException {
        if (!synced) {
            store.sync(file(), true);
            synced = true;
        }
    }

    /** Whether all that was written is stable. */
    boolean isSynced() { return synced; }

    /**
     * Leaves the data to an object, unless the change is undone. The file stays if the next start may find the change
     * nevertheless; it deletes the file otherwise, which the table {@code staged} has then.
     */
    void given(Effects effects, OpenFiles files) {
        if (given) {
            throw new IllegalStateException("staged data belong to an object already");
        }
        given = true;
        owner = files;
        effects.onUndo(() -> given = effects.isUncertain());
    }

    @Override
    public void close() {
        DataFile known = file;
        file = null;
        if (known != null) {
            OpenFiles files = owner;
            if (given && !synced && files != null) {
                files.retire(known);
                store.syncExcess(files);
            } else {
                known.close();
            }
            if (!given) {
                store.discard(known.data());
            }
        }
        small = null;
    }
}
