package lunar.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import lunar.block.DeviceRecords;
import lunar.block.Identity;

/**
 * Records about a path and the devices that were opened from it.
 *
 * @param records records of this process
 * @param path path as given by the operator
 */
record PathRecords(DeviceRecords records, Path path) {
    private static final System.Logger LOG = System.getLogger("lunar.store");

    /** The device that was opened from the path last. */
    Optional<UUID> last() throws IOException {
        for (String name : names()) {
            Optional<UUID> found = uuid(name);
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    /** Records that a device was opened from the path; says so where it was another before. */
    void opened(UUID uuid) throws IOException {
        Optional<UUID> before = last();
        if (before.isPresent() && !before.get().equals(uuid)) {
            LOG.log(System.Logger.Level.WARNING, "{0} is a different disk than the one opened"
                    + " from this path before: hosts see {1} instead of {2}, and state saved"
                    + " for {2} is not used; if it is that disk, restored, open it once with"
                    + " ?identity={2}", path, uuid, before.get());
        }
        for (String name : names()) {
            keep(name, uuid);
        }
    }

    /**
     * Returns the identity that earlier versions derived from the path, if they served a device with it from this state
     * directory. Only the first device gets it.
     *
     * @param ofPath the identity
     * @param device unique name of the device, independent of its path
     */
    Optional<UUID> inherited(UUID ofPath, String device) throws IOException {
        return inherited(ofPath, device, List.of());
    }

    /**
     * Like {@link #inherited(UUID, String)}, for a device that had other names with earlier versions.
     *
     * @param earlier these names
     */
    Optional<UUID> inherited(UUID ofPath, String device, List<String> earlier)
            throws IOException {
        return records.hasServed(ofPath)
                ? passedOn(ofPath, ofPath, device, earlier)
                : Optional.empty();
    }

    /**
     * Returns an identity unless another device has it.
     *
     * @param before the identity that earlier versions derived from a path or a name, which only one device inherits
     * @param kept the identity that such a device had
     */
    Optional<UUID> passedOn(UUID before, UUID kept, String device, List<String> earlier)
            throws IOException {
        String name = inheritedName(before);
        Optional<String> heir = records.find(name);
        if (heir.filter(one -> !one.equals(device) && !earlier.contains(one)).isPresent()) {
            return Optional.empty();
        }
        if (heir.isEmpty()) {
            LOG.log(System.Logger.Level.INFO, "{0} keeps the identity {1} that hosts know"
                    + " from an earlier version", path, kept);
        }
        inheritedBy(before, device);
        return Optional.of(kept);
    }

    /**
     * Records that a device has the identity that earlier versions made from its path or name, so that no other
     * inherits it.
     */
    void inheritedBy(UUID ofPath, String device) throws IOException {
        String name = inheritedName(ofPath);
        if (!records.find(name).equals(Optional.of(device))) {
            records.keep(name, device);
        }
    }

    private static String inheritedName(UUID ofPath) { return "inherited-" + ofPath; }

    /** The identity that is kept under a name. */
    Optional<UUID> uuid(String name) throws IOException {
        return records.find(name).map(UUID::fromString);
    }

    /** Keeps an identity under a name. */
    void keep(String name, UUID uuid) throws IOException {
        if (!records.find(name).equals(Optional.of(uuid.toString()))) {
            records.keep(name, uuid.toString());
        }
    }

    /** The path as written and, where links lead elsewhere, the one they lead to: each may be what is written next. */
    private Set<String> names() {
        Path written = path.toAbsolutePath().normalize();
        var names = new LinkedHashSet<String>();
        names.add(name(written));
        try {
            Path folder = written.getParent();
            if (folder != null) {
                names.add(name(folder.toRealPath().resolve(written.getFileName())));
            }
        } catch (IOException _) {
            // A folder that is missing leads nowhere.
        }
        return names;
    }

    private static String name(Path path) { return "path-" + Identity.uuidOf(path.toString()); }
}
