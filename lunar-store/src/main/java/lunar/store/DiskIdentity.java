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
        Optional<UUID> known = options.identity().map(pinned -> pinned.orOfPath(legacy));
        if (known.isEmpty()) {
            known = records.uuid(recordName(own));
        }
        if (known.isEmpty() && !own.equals(legacy)) {
            known = records.inherited(legacy, name.text(), name.earlier());
        }
        if (known.isEmpty()) {
            known = ofEarlierName();
        }
        UUID uuid = known.orElse(own);
        if (options.identity().isEmpty() && !name.isUnique()) {
            LOG.log(System.Logger.Level.WARNING,
                    "{0}: {1}; or open it with ?identity={2}, always", real, name.doubt(), uuid);
        }
        if (!uuid.equals(own) && name.isUnique()) { // another disk may be in the same place tomorrow
            records.keep(recordName(own), uuid);
        }
        if (uuid.equals(legacy) && !own.equals(legacy)) {
            records.inheritedBy(legacy, name.text());
        }
        for (String earlier : name.earlier()) {
            UUID before = uuid(earlier);
            if (uuid.equals(records.uuid(recordName(before)).orElse(before))) {
                records.inheritedBy(before, name.text());
            }
        }
        records.opened(uuid);
        return uuid;
    }

    private static String recordName(UUID own) { return "disk-" + own; }

    /** The identity of the disk when an earlier version gave it another name; only one disk of that name has it. */
    private Optional<UUID> ofEarlierName() throws IOException {
        for (String earlier : name.earlier()) {
            UUID before = uuid(earlier);
            Optional<UUID> kept = records.uuid(recordName(before));
            Optional<UUID> known = kept.isPresent()
                    ? records.passedOn(before, kept.get(), name.text(), name.earlier())
                    : records.inherited(before, name.text(), name.earlier());
            if (known.isPresent()) {
                return known;
            }
        }
        return Optional.empty();
    }
}
