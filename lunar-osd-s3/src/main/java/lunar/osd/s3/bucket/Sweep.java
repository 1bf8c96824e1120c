package lunar.osd.s3.bucket;

import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import lunar.osd.s3.backend.ObjectBackend;
import lunar.osd.wire.attribute.Attribute;

/**
 * Removes data that nothing refers to: the process ended before a key or an upload had them, or after they were
 * replaced. Considers data of earlier processes alone, whose identifiers are below those of this one, so that it does
 * not interfere with writers. For one thread.
 *
 * <p>Data of earlier processes can get a key by the completion of an upload alone. It sets the record of the key before
 * it removes the upload; so the upload is looked up first here.
 */
final class Sweep {
    private static final System.Logger LOG = System.getLogger("lunar.osd.s3");
    private static final int PAGE = 1000;

    private final ObjectBackend backend;
    private final long partition;
    private final KeyTable keys;
    private final KeyIndex index;
    private final DataObjects data;
    private final Uploads uploads;
    /** The upload whose parts were found to be an object's last, with the data of the object. */
    private long partsOf;
    private Set<Long> parts = Set.of();

    Sweep(ObjectBackend backend, long partition, KeyTable keys, KeyIndex index, DataObjects data,
            Uploads uploads) {
        this.backend = backend;
        this.partition = partition;
        this.keys = keys;
        this.index = index;
        this.data = data;
        this.uploads = uploads;
    }

    /**
     * Removes data.
     *
     * @param newest greatest identifier to consider
     * @param goesOn asked now and then
     * @return how many user objects were removed
     */
    int run(long newest, BooleanSupplier goesOn) throws IOException {
        int removed = 0;
        long from = Layout.DATA;
        List<ObjectBackend.Listed> page;
        do {
            page = backend.list(partition, from, PAGE, List.of(Layout.OWNER));
            for (ObjectBackend.Listed each : page) {
                from = each.id() + 1;
                if (each.id() > newest) {
                    break;
                }
                if (!isNeeded(each.id(), each.attributes().get(0))) {
                    data.remove(each.id());
                    removed++;
                }
            }
        } while (page.size() == PAGE && from <= newest && goesOn.getAsBoolean());
        if (removed > 0) {
            LOG.log(System.Logger.Level.INFO, "removed " + removed
                    + " user objects of interrupted writes from partition "
                    + Long.toHexString(partition) + "h");
        }
        return removed;
    }

    private boolean isNeeded(long id, Attribute value) throws IOException {
        if (!value.isSet()) {
            return true; // not written by this server
        }
        DataOwner owner = DataOwner.decode(value.value());
        if (owner.upload() == 0) {
            KeyIndex.Entry entry = index.entries().get(owner.key());
            if (entry != null && entry.data() == id) {
                return true; // without asking the device
            }
        } else if ((owner.upload() == partsOf && parts.contains(id)) || uploads.has(owner, id)) {
            return true;
        }
        Optional<KeyTable.Head> head;
        var lock = keys.lock(owner.key()).readLock();
        lock.lock();
        try {
            head = keys.find(owner.key());
        } finally {
            lock.unlock();
        }
        return (head.isPresent() && isPartOf(head.get().record(), owner, id))
                || data.isRead(id, owner);
    }

    private boolean isPartOf(ObjectRecord object, DataOwner owner, long id) throws IOException {
        if (owner.upload() == 0) {
            return object.data() == id;
        }
        if (object.upload() != owner.upload()) {
            return false;
        }
        parts = new HashSet<>(data.dataOf(object));
        partsOf = owner.upload();
        return parts.contains(id);
    }
}
