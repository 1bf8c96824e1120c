package lunar.osd.store.directory;

import java.io.IOException;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import lunar.block.LostWritesException;

/**
 * Names in the directory of a store. The file of a data id is {@code data/T/XX/YY/ID}, in hexadecimal digits: YY is
 * bits 8 to 15 of the id, XX bits 16 to 23, T all above, so that a directory has at most 256 files or directories;
 * only {@code data} itself gets one more for each 16,777,216 ids. Everything is accessible to its owner alone.
 */
record StoreDirectory(Path path, IoSteps steps) {
    private static final Set<PosixFilePermission> DIRECTORY_MODE = PosixFilePermissions
            .fromString("rwx------");
    private static final Set<PosixFilePermission> FILE_MODE = PosixFilePermissions
            .fromString("rw-------");

    StoreDirectory(Path path) { this(path, IoSteps.NONE); }

    Path database() { return path.resolve("objects.db"); }

    Path reserve() { return path.resolve("reserve"); }

    Path lock() { return path.resolve("lock"); }

    Path data() { return path.resolve("data"); }

    Path file(long data) { return folder(data).resolve(String.format("%016x", data)); }

    /** Returns the directory of a file. */
    Path folder(long data) {
        return data().resolve(Long.toHexString(data >>> 24))
                .resolve(String.format("%02x", data >>> 16 & 0xff))
                .resolve(String.format("%02x", data >>> 8 & 0xff));
    }

    /** Creates the file of a data id, which must not exist. */
    void create(long data) throws IOException {
        Path folder = folder(data);
        if (!Files.isDirectory(folder)) {
            for (Path each : upTo(data(), folder).reversed()) {
                makeDirectory(each);
            }
        }
        createFile(file(data));
    }

    private static List<Path> upTo(Path top, Path folder) {
        var path = new ArrayList<Path>();
        for (Path each = folder; each != null && each.startsWith(top); each = each.getParent()) {
            path.add(each);
        }
        return path;
    }

    /** Creates a directory, unless it exists. */
    void makeDirectory(Path folder) throws IOException {
        steps.file("create", folder);
        try {
            Files.createDirectory(folder, mode(DIRECTORY_MODE));
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(folder)) {
                throw e;
            }
        }
    }

    void createFile(Path file) throws IOException {
        steps.file("create", file);
        Files.createFile(file, mode(FILE_MODE));
    }

    private FileAttribute<?>[] mode(Set<PosixFilePermission> permissions) {
        return path.getFileSystem().supportedFileAttributeViews().contains("posix")
                ? new FileAttribute<?>[]{PosixFilePermissions.asFileAttribute(permissions)}
                : new FileAttribute<?>[0];
    }

    /** Makes the directory entries that lead to the file of a data id stable. */
    void syncEntries(long data) throws IOException {
        for (Path each : upTo(data)) {
            sync(each);
        }
    }

    /** Returns the directories with the entries that lead to the file of a data id, the innermost first. */
    List<Path> upTo(long data) {
        return upTo(path, folder(data));
    }

    /** Makes the entries of a directory stable. By a channel that no interrupt closes. */
    void sync(Path folder) throws IOException {
        try (AsynchronousFileChannel entries = AsynchronousFileChannel.open(folder,
                StandardOpenOption.READ)) {
            force(entries, folder, true);
        }
    }

    /**
     * Makes what was written to a file or directory stable.
     *
     * @throws ClosedChannelException if the channel is closed
     * @throws LostWritesException if it fails otherwise, as nothing but a failed fsync(2) loses what was written
     */
    void force(AsynchronousFileChannel channel, Path path, boolean metadata)
            throws IOException {
        try {
            steps.file("sync", path);
            channel.force(metadata);
            steps.synced(path);
        } catch (ClosedChannelException e) {
            throw e;
        } catch (IOException e) {
            throw new LostWritesException("object store: " + path + ": fsync: " + e.getMessage(),
                    e);
        }
    }

    /** Deletes the file of a data id, if it is there. */
    void delete(long data) throws IOException {
        steps.file("delete", file(data));
        Files.deleteIfExists(file(data));
    }

    @Override
    public String toString() { return path.toString(); }
}
