package lunar.osd.target;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import lunar.block.DeviceGoneException;
import lunar.block.DeviceRecords;
import lunar.block.DeviceUri;
import lunar.block.StorageException;
import lunar.block.Usage;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.directory.DirectoryObjectStore;
import lunar.osd.store.directory.StoreOptions;
import lunar.osd.wire.security.SecurityMethod;
import lunar.scsi.target.StateStore;
import lunar.scsi.target.UnitSpec;
import lunar.scsi.target.spi.UnitProvider;
import lunar.scsi.target.spi.UnitSource;

/**
 * Serves object stores in directories by URIs: {@code osd:DIR?create=true&sync=always&security=cmdrsp&key-file=FILE}.
 *
 * <pre>
 * create    true: a directory that is empty or does not exist becomes a store; default false
 * sync      always: every change is on stable storage when its command ends; flush (default): what a FLUSH command or
 *           FUA asks for. Changes that are not flushed survive the end of the process, but not a power failure
 * security  capkey, cmdrsp, alldata: commands need a capability, and this method at least; nosec (default): none do
 * key-file  file with the master key, which other users cannot read; needed with security
 * replace-key  true: the master key may be another than before, which invalidates all credentials; default false
 * </pre>
 */
public final class OsdProvider implements UnitProvider {
    private static final String SECURITY = "security";
    private static final String KEY_FILE = "key-file";
    private static final String REPLACE_KEY = "replace-key";

    /** An open store. */
    private record Source(ObjectStore store, Optional<OsdSecurity> security, long sizeBytes)
            implements
            UnitSource {
        @Override
        public UUID identity() { return store.identity(); }

        @Override
        public Optional<Usage> usage() {
            try {
                return Optional.of(store.usage());
            } catch (StorageException _) {
                return Optional.empty(); // commands fail, and say why
            }
        }

        @Override
        public UnitSpec spec(StateStore state) { return new OsdSpec(store, state, security); }

        @Override
        public void close() throws StorageException { store.close(); }
    }

    /** Called by {@link java.util.ServiceLoader}. */
    public OsdProvider() {}

    @Override
    public Set<String> schemes() { return Set.of("osd"); }

    @Override
    public UnitSource open(DeviceUri uri, DeviceRecords records) throws StorageException {
        Path directory = directory(uri);
        StoreOptions options = options(uri);
        Optional<OsdSecurity> security = security(uri);
        ObjectStore store;
        try {
            store = DirectoryObjectStore.open(directory, options);
        } catch (StorageException e) {
            throw e;
        } catch (IOException e) {
            throw new DeviceGoneException(problem(e) + advice(uri, directory, options), e);
        }
        boolean opened = false;
        try {
            Usage usage = store.usage();
            var source = new Source(store, security,
                    usage.usedBytes() + usage.availableBytes());
            opened = true;
            return source;
        } finally {
            if (!opened) {
                store.close();
            }
        }
    }

    @Override
    public void check(DeviceUri uri) throws StorageException {
        Path directory = directory(uri);
        StoreOptions options = options(uri);
        Optional<OsdSecurity> _ = security(uri);
        if (!Files.exists(directory) && !options.create()) {
            throw new DeviceGoneException(
                    directory + " does not exist" + advice(uri, directory, options));
        }
        if (Files.exists(directory) && !Files.isDirectory(directory)) {
            throw new DeviceGoneException(directory + " is no directory");
        }
    }

    private static StoreOptions options(DeviceUri uri) {
        uri.requireKnownOptions(Set.of("create", "sync", SECURITY, KEY_FILE, REPLACE_KEY));
        return new StoreOptions(choice(uri, "create", "true", "false"),
                choice(uri, "sync", "always", "flush"));
    }

    /** Returns what is wrong: the messages of file systems' exceptions may have the name of the file alone. */
    private static String problem(IOException e) {
        return switch (e) {
            case NotDirectoryException file -> file.getFile() + " is no directory";
            case NoSuchFileException file -> file.getFile() + " does not exist";
            case AccessDeniedException file -> file.getFile() + " cannot be accessed: check the"
                    + " owner and the permissions";
            default -> String.valueOf(e.getMessage());
        };
    }

    /** Says how to make a store where there is nothing. */
    private static String advice(DeviceUri uri, Path directory, StoreOptions options) {
        String[] names = directory.toFile().list();
        boolean isEmpty = names == null ? !Files.exists(directory) : names.length == 0;
        return !options.create() && isEmpty ? "; create it with '" + uri + "?create=true'" : "";
    }

    /** Reads the master key, before anything is created. */
    private static Optional<OsdSecurity> security(DeviceUri uri) throws StorageException {
        String name = uri.option(SECURITY, "nosec");
        SecurityMethod method = SecurityMethod.named(name)
                .orElseThrow(() -> new IllegalArgumentException("'" + name
                        + "' of option 'security' in " + uri
                        + " is none of nosec, capkey, cmdrsp, alldata"));
        String file = uri.option(KEY_FILE, "");
        boolean replace = choice(uri, REPLACE_KEY, "true", "false");
        if (method == SecurityMethod.NOSEC) {
            if (!file.isEmpty() || replace) {
                throw new IllegalArgumentException(uri + " has a key, but no security; add for"
                        + " example security=cmdrsp");
            }
            return Optional.empty();
        }
        if (file.isEmpty()) {
            throw new IllegalArgumentException(uri + " has no key-file; make one with"
                    + " 'lunar osd newkey FILE'");
        }
        try {
            return Optional.of(
                    new OsdSecurity(method, MasterKeyFile.read(Path.of(file)), replace));
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException(uri + " names no file: " + e.getReason(), e);
        } catch (IOException e) {
            throw new DeviceGoneException(problem(e), e);
        }
    }

    private static Path directory(DeviceUri uri) {
        if (uri.rest().isEmpty()) {
            throw new IllegalArgumentException(
                    "an osd: URI has no directory; write for example osd:objects?create=true");
        }
        try {
            return Path.of(uri.rest());
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException(uri + " names no directory: " + e.getReason(), e);
        }
    }

    /** Whether an option has the first of two values; the second is the default. */
    private static boolean choice(DeviceUri uri, String option, String first, String second) {
        String value = uri.option(option, second);
        if (!value.equals(first) && !value.equals(second)) {
            throw new IllegalArgumentException("'" + value + "' of option '" + option + "' in "
                    + uri + " is neither " + first + " nor " + second);
        }
        return value.equals(first);
    }
}
