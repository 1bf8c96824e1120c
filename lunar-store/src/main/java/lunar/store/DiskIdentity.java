package lunar.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.UUID;
import lunar.block.Identity;

/**
 * Finds which disk a disk is (docs/adr/009-identity-of-a-disk.md): the same one whatever name the kernel gives it at
 * boot. A UUID follows from its unique name; records keep one that the operator has given it, or that it had with an
 * earlier version.
 *
 * @param name what tells the disk from others
 * @param real where it is
 * @param records of its path
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
            LOG.log(System.Logger.Level.WARNING, "{0} has no serial number or other name of its"
                    + " own: hosts know it by its place in this machine; give it one, or open it"
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
