package lunar.osd.target.command;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.block.StorageException;
import lunar.osd.store.ObjectReader;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.StagedData;
import lunar.osd.target.attribute.RefusedException;
import lunar.osd.wire.ObjectId;

/**
 * Data of user objects that a command is about to create, so that no object ever has a part of them. Closing discards
 * what was not used.
 */
final class StagedObject implements AutoCloseable {
    private final List<StagedData> staged = new ArrayList<>();

    /** Stages an object of zeros. */
    void zeros(ObjectStore store, long length) throws StorageException {
        StagedData data = stage(store);
        if (length > 0) {
            data.write(length - 1, MemorySegment.ofArray(new byte[1]));
        }
    }

    /** Stages an object without data. */
    StagedData stage(ObjectStore store) throws StorageException {
        StagedData data = store.stage();
        staged.add(data);
        return data;
    }

    StagedData get(int index) { return staged.get(index); }

    boolean isEmpty() { return staged.isEmpty(); }

    /** Refuses objects that would exceed a quota of data; the store does not check staged data. */
    void check(ObjectReader objects, ObjectId partition, ObjectSettings settings)
            throws StorageException, RefusedException {
        long added = 0;
        for (StagedData each : staged) {
            added += each.length();
        }
        long used = objects.usedBytes(0);
        long usedByPartition = objects.usedBytes(partition.partition());
        for (StagedData each : staged) {
            settings.check(partition, each.length(), usedByPartition + added, used + added);
        }
    }

    @Override
    public void close() { staged.forEach(StagedData::close); }
}
