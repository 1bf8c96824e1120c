package lunar.osd.target.command;

import java.util.List;
import java.util.function.BooleanSupplier;
import lunar.block.StorageException;
import lunar.osd.store.ObjectReader;
import lunar.osd.wire.ObjectId;

/** Iterates over the members of a collection in batches, by ascending identifiers. */
final class Members {
    private final ObjectReader objects;
    private final ObjectId collection;
    private final BooleanSupplier aborted;
    private long from;
    private boolean ended;

    /** @param aborted ends the iteration early */
    Members(ObjectReader objects, ObjectId collection, BooleanSupplier aborted) {
        this.objects = objects;
        this.collection = collection;
        this.aborted = aborted;
    }

    /** Returns further members; none at the end. */
    List<Long> next() throws StorageException {
        if (ended || aborted.getAsBoolean()) {
            return List.of();
        }
        List<Long> ids = objects.members(collection, from, OsdLimits.BATCH);
        ended = ids.isEmpty() || ids.getLast() == -1;
        if (!ended) {
            from = ids.getLast() + 1;
        }
        return ids;
    }
}
