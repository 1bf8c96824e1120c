package lunar.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lunar.block.DeviceRecords;
import lunar.block.Identity;
import org.jspecify.annotations.Nullable;

/**
 * Determines the identity of a file (docs/adr/009-identity-of-a-disk.md). A UUID is created once and stored as a label
 * of the file, together with the file's birth: a copy that has inherited the label is a different file and gets its own
 * UUID. If the file cannot be labelled, records keep the UUID by birth. A new file gets a random UUID; an existing one
 * gets a UUID derived from birth and machine, which does not change when the file is labelled later.
 *
 * <p>Without records ({@link DeviceRecords#NONE}) an existing file is not labelled: a command that examines it must not
 * override a server, whose records may have another identity.
 */
final class FileIdentity {
    private static final System.Logger LOG = System.getLogger("lunar.store");
    private static final String LABEL = "identity";
    private static final Pattern FORM = Pattern
            .compile("1 ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) (\\S+)");

    private final PathRecords records;
    private final Path real;
    private final Optional<FileLabels> labels;
    private final FileBirth birth;
    private final FileOptions options;

    /**
     * @param path as the operator wrote it
     * @param real where the file is
     * @param file descriptor of it; null if the calls are not available
     */
    FileIdentity(Path path, Path real, @Nullable LinuxFile file, FileOptions options,
            DeviceRecords records) throws IOException {
        this.records = new PathRecords(records, path);
        this.real = real;
        this.options = options;
        labels = file == null ? Optional.empty() : FileLabels.of(file);
        birth = FileBirth.of(real, file);
    }

    /** A label: an identity and the file that has it. */
    private record Tag(UUID uuid, FileBirth birth) {
        static Optional<Tag> parse(String text) {
            Matcher matcher = FORM.matcher(text);
            if (!matcher.matches()) {
                return Optional.empty();
            }
            return FileBirth.parse(matcher.group(2))
                    .map(of -> new Tag(UUID.fromString(matcher.group(1)), of));
        }

        @Override
        public String toString() { return "1 " + uuid + " " + birth; }
    }

    /**
     * The identity of the file, which is locked.
     *
     * @param created whether the file was made just now
     */
    UUID find(boolean created) throws IOException {
        Optional<Tag> tag = tag();
        Optional<UUID> own = tag.filter(one -> one.birth().isSameFile(birth)).map(Tag::uuid);
        UUID ofPath = Identity.uuidOf("file:" + real);
        Optional<UUID> known = options.identity().map(pinned -> pinned.orOfPath(ofPath));
        if (known.isEmpty()) {
            known = own;
        }
        if (known.isEmpty()) {
            known = records.uuid(recordName());
        }
        if (known.isEmpty() && tag.isEmpty() && !created) {
            known = records.inherited(ofPath, birth.toString());
        }
        // Where the birth has no time, another file may have had it.
        UUID uuid = known.orElseGet(
                () -> created || birth.born().isEmpty() ? UUID.randomUUID() : derived());
        boolean decides = known.isPresent() || created
                || records.records().settlesIdentities();
        boolean labelled = own.filter(uuid::equals).isPresent() || (decides && label(uuid));
        boolean recorded = !labelled && records.records().isPersistent();
        if (recorded) {
            records.keep(recordName(), uuid);
        }
        if (known.isEmpty()) {
            if (!labelled && !recorded) {
                uuid = derived();
                tellDerived();
            } else if (!created && tag.isEmpty()) {
                tellNew(uuid, ofPath);
            }
        }
        if (uuid.equals(ofPath)) {
            records.inheritedBy(ofPath, birth.toString());
        }
        records.opened(uuid);
        return uuid;
    }

    private Optional<Tag> tag() throws IOException {
        try {
            return labels.isEmpty()
                    ? Optional.empty()
                    : labels.get().read(LABEL).flatMap(Tag::parse);
        } catch (FileLabels.Unsupported _) {
            return Optional.empty();
        }
    }

    /** Labels the file; false if that cannot be. */
    private boolean label(UUID uuid) {
        if (labels.isEmpty() || options.readOnly()) {
            return false;
        }
        try {
            labels.get().write(LABEL, new Tag(uuid, birth).toString());
            return true;
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "{0} cannot be labelled: {1}", real, e.getMessage());
            return false;
        }
    }

    /** Without a time of birth, the number of an inode may come again: then the path counts, too. */
    private String name() {
        return birth + (birth.born().isEmpty() ? " " + real : "");
    }

    private String recordName() { return "file-" + Identity.uuidOf(name()); }

    private UUID derived() { return Identity.uuidOf("file:" + Machine.id() + ":" + name()); }

    /** Without a time of birth, only the machine distinguishes the file from that of another one. */
    private void tellDerived() {
        boolean isUnique = !birth.born().isEmpty() || !Machine.id().isEmpty();
        LOG.log(isUnique ? System.Logger.Level.DEBUG : System.Logger.Level.WARNING,
                "the identity of {0} is not stored with it, but derived from its inode{1};"
                        + " a state directory, or ?identity=UUID, makes it persistent",
                real, isUnique
                        ? ""
                        : " and path, and this machine has no /etc/machine-id: a file of another"
                                + " machine may have the same identity");
    }

    private void tellNew(UUID uuid, UUID ofPath) {
        LOG.log(System.Logger.Level.INFO,
                "{0} is a new disk, {1}; if hosts used it with an earlier version, keep its earlier"
                        + " identity by serving it once with ?identity={2}",
                real, uuid, ofPath);
    }
}
