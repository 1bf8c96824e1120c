package lunar.store;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import lunar.block.BlockDevice;
import lunar.block.DeviceRecords;
import lunar.block.DeviceUri;
import lunar.block.Size;
import lunar.block.StorageException;
import lunar.block.spi.DeviceProvider;

/** Opens {@code ram:}, {@code file:} and {@code disk:} URIs. */
public final class StoreProvider implements DeviceProvider {
    /** For the {@link java.util.ServiceLoader}. */
    public StoreProvider() {}

    @Override
    public Set<String> schemes() { return Set.of("ram", "file", "disk"); }

    @Override
    public BlockDevice open(DeviceUri uri) throws StorageException {
        return open(uri, DeviceRecords.NONE);
    }

    @Override
    public BlockDevice open(DeviceUri uri, DeviceRecords records) throws StorageException {
        return switch (uri.scheme()) {
            case "ram" -> memory(uri);
            case "file" -> FileDevice.open(file(uri), fileOptions(uri), records);
            case "disk" -> DiskDevice.open(disk(uri), diskOptions(uri), records);
            default -> throw new IllegalArgumentException("not a scheme of a store: " + uri);
        };
    }

    @Override
    public void check(DeviceUri uri) throws StorageException {
        switch (uri.scheme()) {
            case "ram" -> memory(uri).close(); // which has taken no memory yet
            case "file" -> FileOpening.check(file(uri), fileOptions(uri));
            case "disk" -> {
                FileOptions _ = diskOptions(uri);
                DiskDevice.check(disk(uri));
            }
            default -> throw new IllegalArgumentException("not a scheme of a store: " + uri);
        }
    }

    private static MemoryDevice memory(DeviceUri uri) {
        uri.requireKnownOptions(Set.of("block-size", "max"));
        if (uri.rest().isEmpty()) {
            throw new IllegalArgumentException("ram: needs a size, for example ram:1GiB");
        }
        return MemoryDevice.create(Size.parse(uri.rest()), blockSize(uri),
                uri.option("max").map(Size::parse).orElse(MemoryDevice.MAX_BYTES));
    }

    private static Path file(DeviceUri uri) { return path(uri, "file:disk.img?size=1GiB"); }

    private static Path disk(DeviceUri uri) { return path(uri, "disk:/dev/sdb"); }

    private static FileOptions fileOptions(DeviceUri uri) {
        uri.requireKnownOptions(Set.of("size", "io", "block-size", "read-only", "workers", "ring",
                "identity", "create", "lock"));
        return options(uri, FileOptions.BUFFERED);
    }

    private static FileOptions diskOptions(DeviceUri uri) {
        uri.requireKnownOptions(Set.of("io", "read-only", "workers", "ring", "identity", "lock"));
        return options(uri, FileOptions.BUFFERED.withIo(FileOptions.Io.DIRECT));
    }

    private static Path path(DeviceUri uri, String example) {
        if (uri.rest().isEmpty()) {
            throw new IllegalArgumentException(
                    uri.scheme() + ": needs a path, for example " + example);
        }
        try {
            return Path.of(uri.rest());
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException(
                    "'" + uri.rest() + "' is not a path: " + e.getReason(), e);
        }
    }

    private static FileOptions options(DeviceUri uri, FileOptions defaults) {
        FileOptions options = defaults;
        Optional<String> io = uri.option("io");
        if (io.isPresent()) {
            options = options.withIo(io(io.get()));
        }
        Optional<String> size = uri.option("size");
        if (size.isPresent()) {
            options = options.withCreateBytes(Size.parse(size.get()));
        }
        Optional<String> workers = uri.option("workers");
        if (workers.isPresent()) {
            options = options.withWorkers(number("workers", workers.get()));
        }
        Optional<String> identity = uri.option("identity");
        if (identity.isPresent()) {
            options = options.withIdentity(PinnedIdentity.parse(identity.get()));
        }
        Optional<String> create = uri.option("create");
        if (create.isPresent() && !create.get().equals("yes")) {
            throw new IllegalArgumentException("create=" + create.get() + " is not yes, which"
                    + " creates a blank disk where another was served before");
        }
        options = options.withCreateAgain(create.isPresent());
        return options.withBlockSize(blockSize(uri)).withReadOnly(isTrue(uri, "read-only", false))
                .withRing(isTrue(uri, "ring", true)).withLocked(isLocked(uri));
    }

    private static boolean isLocked(DeviceUri uri) {
        Optional<String> lock = uri.option("lock");
        if (lock.isPresent() && !lock.get().equals("no")) {
            throw new IllegalArgumentException("lock=" + lock.get() + " is not no, which looks at"
                    + " a file that is in use");
        }
        return lock.isEmpty();
    }

    private static FileOptions.Io io(String name) {
        return switch (name) {
            case "buffered" -> FileOptions.Io.BUFFERED;
            case "sendfile" -> FileOptions.Io.SENDFILE;
            case "mapped" -> FileOptions.Io.MAPPED;
            case "direct" -> FileOptions.Io.DIRECT;
            case "sync" -> FileOptions.Io.SYNC;
            default -> throw new IllegalArgumentException(
                    "io=" + name + " is not one of buffered, sendfile, mapped, direct, sync");
        };
    }

    private static int blockSize(DeviceUri uri) {
        String text = uri.option("block-size", "512");
        long bytes = Size.parse(text);
        if (bytes != 512 && bytes != 4096) {
            throw new IllegalArgumentException("block-size=" + text + " is not one of 512, 4096");
        }
        return (int) bytes;
    }

    private static int number(String name, String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + "=" + text + " is not a number", e);
        }
    }

    private static boolean isTrue(DeviceUri uri, String name, boolean otherwise) {
        String text = uri.option(name, Boolean.toString(otherwise)).toLowerCase(Locale.ROOT);
        return switch (text) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new IllegalArgumentException(
                    name + "=" + text + " is not one of true, false");
        };
    }
}
