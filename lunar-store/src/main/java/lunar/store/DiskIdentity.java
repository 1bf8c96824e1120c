package lunar.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.UUID;
import lunar.block.Identity;

/**
 * Determines the identity of a disk (docs/adr/009-identity-of-a-disk.md), independent of the name that the kernel gives
 * it at boot. The UUID is derived from its unique name; records keep one set by the operator or by an earlier version.
 *
 * @param name unique name of the disk
 * @param real its resolved path
 * @param records records about its path
 */
record DiskIdentity(DiskName name, Path real, FileOptions options, PathRecords records) {
    private static final System.Logger LOG = System.getLogger("lunar.store");

    /** The UUID that follows from a name. */
    static UUID uuid(String name) {
        return Identity.uuidOf("disk:" + name);
    }

    /**
     * The identity of the disk, which is open.
     *
     * @param legacy its identity with earlier versions
     */
    UUID find(UUID legacy) throws IOException {
        UUID own = uuid(name.text());
        String recordName = "disk-" + own;
        Optional<UUID> known = options.identity().map(pinned -> pinned.orOfPath(legacy));
        if (known.isEmpty()) {
            known = records.uuid(recordName);
        }
        if (known.isEmpty() && !own.equals(legacy)) {
            known = records.inherited(legacy, name.text());
        }
        if (known.isEmpty() && !name.isUnique()) {
            LOG.log(System.Logger.Level.WARNING, "{0} has no serial number or other unique"
                    + " name: its identity depends on its position in this machine; set a serial number, or open it"
                    + " with ?identity={1}", real, own);
        }
        UUID uuid = known.orElse(own);
        if (!uuid.equals(own) && name.isUnique()) { // another disk may be in the same place tomorrow
            records.keep(recordName, uuid);
        }
        if (uuid.equals(legacy) && !own.equals(legacy)) {
            records.inheritedBy(legacy, name.text());
        }
        records.opened(uuid);
        return uuid;
    }
}
