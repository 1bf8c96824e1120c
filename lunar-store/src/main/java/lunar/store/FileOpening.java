package lunar.store;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.UUID;
import lunar.block.DeviceRecords;
import lunar.block.Geometry;
import lunar.block.Identity;
import lunar.block.OtherSizeException;
import lunar.block.Size;
import lunar.block.StorageException;
import lunar.block.WriteProtectedException;
import org.jspecify.annotations.Nullable;

/** Opens a file as a device; an error is one line that tells the author of the URI what to do. */
final class FileOpening {
    private static final System.Logger LOG = System.getLogger(FileOpening.class.getName());
    private static final int PHYSICAL_BLOCK_BYTES = 4096;

    private FileOpening() {}

    /** How the descriptor for syncs is come by. */
    @FunctionalInterface
    interface SyncOpener {
        DataSync open(Path path) throws IOException;
    }

    static FileDevice open(Path path, FileOptions options, DeviceRecords records)
            throws StorageException {
        return open(path, options, records, DataSync::of);
    }

    static FileDevice open(Path path, FileOptions options, DeviceRecords records, SyncOpener syncs)
            throws StorageException {
        try {
            boolean created = requireFile(path, options, new PathRecords(records, path));
            Path real = path.toRealPath();
            if (!created && options.locked()) {
                warnOfImage(path);
            }
            FileHandle handle = handle(real, options);
            try {
                return device(path, real, options, handle, records, created, syncs);
            } catch (IOException | RuntimeException e) {
                handle.close();
                throw e;
            }
        } catch (IOException e) {
            throw IoFailure.of(path + " cannot be opened", e);
        }
    }

    private static void warnOfImage(Path path) throws IOException {
        Optional<ImageFormat> format = ImageFormat.of(path);
        if (format.isPresent()) {
            LOG.log(System.Logger.Level.WARNING,
                    "{0} is a {1} image, and is used as it is, not as the"
                            + " disk in it; convert it with ''qemu-img convert -O raw'' to use that",
                    path,
                    format.get());
        }
    }

    /**
     * Checks, without opening or creating the file, that it can be opened or created.
     *
     * @throws IllegalArgumentException if it cannot, with one line for the author of the URI; an
     *         {@link OtherSizeException} if only its size is another one
     */
    static void check(Path path, FileOptions options) throws StorageException {
        try {
            boolean exists = requireRegular(path);
            if (!exists) {
                requireCreatable(path, options);
                requireDirectory(path);
                return;
            }
            long sizeBytes = Files.size(path);
            if (!Files.isReadable(path)) {
                throw new IllegalArgumentException(path + " cannot be read: permission denied");
            }
            if (!options.readOnly() && !Files.isWritable(path)) {
                throw new WriteProtectedException(
                        path + " cannot be written; open it with read-only=true");
            }
            if (sizeBytes == 0 && (options.createBytes() == 0 || options.readOnly())) {
                throw empty(path);
            }
            if (sizeBytes != 0) {
                requireMultiple(path, sizeBytes, options.blockSize(), "block size");
                requireSize(path, options, sizeBytes);
            }
        } catch (IOException e) {
            throw IoFailure.of(path + " cannot be opened", e);
        }
    }

    private static void requireDirectory(Path path) {
        Path directory = path.toAbsolutePath().getParent();
        if (directory == null) {
            return;
        }
        if (!Files.exists(directory)) {
            throw new IllegalArgumentException(path + " cannot be created: the directory "
                    + directory + " does not exist");
        }
        if (!Files.isDirectory(directory)) {
            throw new IllegalArgumentException(
                    path + " cannot be created: " + directory + " is not a directory");
        }
        if (!Files.isWritable(directory)) {
            throw new IllegalArgumentException(path + " cannot be created: the directory "
                    + directory + " cannot be written");
        }
    }

    private static boolean requireRegular(Path path) {
        if (Files.isDirectory(path)) {
            throw new IllegalArgumentException(path + " is a directory, not a file");
        }
        boolean exists = Files.exists(path);
        if (exists && !Files.isRegularFile(path)) {
            throw new IllegalArgumentException(
                    path + " is not a regular file; a disk is opened as disk:" + path);
        }
        return exists;
    }

    /** Requires that options permit to create a file, which does not exist. */
    private static void requireCreatable(Path path, FileOptions options) {
        if (Files.isSymbolicLink(path)) {
            throw new IllegalArgumentException(
                    path + " is a symbolic link to a file that does not exist; remove or mend it");
        }
        if (options.createBytes() == 0) {
            throw new IllegalArgumentException(path + " does not exist"
                    + (options.readOnly() ? "; check the path" : "; add ?size=1GiB to create it"));
        }
        if (options.readOnly()) {
            throw new IllegalArgumentException(
                    path + " does not exist, and read-only=true cannot create it");
        }
    }

    private static void requireSize(Path path, FileOptions options, long sizeBytes) {
        if (options.createBytes() != 0 && options.createBytes() != sizeBytes) {
            throw new OtherSizeException(path + " exists with " + sizeBytes
                    + " bytes, not the requested size=" + options.createBytes());
        }
    }

    private static IllegalArgumentException empty(Path path) {
        return new IllegalArgumentException(path + " is empty; add ?size=1GiB to give it blocks");
    }

    /** Returns whether the file was made just now. */
    private static boolean requireFile(Path path, FileOptions options, PathRecords records)
            throws IOException {
        boolean exists = requireRegular(path);
        boolean blank = !exists || Files.size(path) == 0;
        if (blank && !options.createAgain()) {
            requireNew(path, exists, records);
        }
        if (!exists) {
            requireCreatable(path, options);
        }
        if (options.createBytes() == 0) {
            return false;
        }
        if (!blank || options.readOnly()) {
            return false;
        }
        create(path, options.createBytes(), exists);
        return true;
    }

    /** Refuses to create a blank file in place of a known disk, whose file system may not be mounted. */
    private static void requireNew(Path path, boolean exists, PathRecords records)
            throws IOException {
        Optional<UUID> before = records.last();
        if (before.isPresent()) {
            throw new IllegalArgumentException(path + (exists ? " is empty" : " does not exist")
                    + ", but the disk " + before.get()
                    + " was served from this path before: mount its"
                    + " file system, or restore the file; to create a blank disk in its place, add"
                    + " ?size=1GiB&create=yes");
        }
    }

    /**
     * Creates a sparse file, or reuses an existing empty one, which has no data to lose. Lost writes of an earlier file
     * of this name do not concern it.
     */
    private static void create(Path path, long sizeBytes, boolean exists) throws IOException {
        if (!exists) {
            try {
                Files.createFile(path);
            } catch (FileSystemException e) {
                requireDirectory(path);
                throw new IllegalArgumentException(path + " cannot be created: " + reason(e), e);
            }
        }
        boolean sized = false;
        try (var file = new RandomAccessFile(path.toFile(), "rw")) {
            file.setLength(sizeBytes);
            LostWritesMarker.of(path.toRealPath()).remove();
            AtomicLogFile.of(path.toRealPath()).remove();
            sized = true;
        } finally {
            if (!exists && !sized) {
                Files.delete(path);
            }
        }
    }

    /** Opens and locks a file; distinguishes the causes of failure. */
    static FileHandle handle(Path real, FileOptions options) throws IOException {
        boolean direct = options.io() == FileOptions.Io.DIRECT;
        try {
            return options.locked()
                    ? FileHandle.open(real, !options.readOnly(), direct)
                    : FileHandle.openUnlocked(real, direct);
        } catch (UnsupportedOperationException e) {
            throw noDirect(real, e);
        } catch (FileSystemException e) {
            if (direct && reason(e).contains("Invalid argument")) {
                throw noDirect(real, e);
            }
            if (!options.readOnly() && Files.isReadable(real)) {
                throw new WriteProtectedException(real + " cannot be written (" + reason(e)
                        + "); open it with read-only=true", e);
            }
            throw new IllegalArgumentException(real + " cannot be opened: " + reason(e), e);
        }
    }

    private static IllegalArgumentException noDirect(Path real, Exception cause) {
        return new IllegalArgumentException(real
                + " is on a file system without direct I/O; use io=buffered or io=sync", cause);
    }

    private static FileDevice device(Path path, Path real, FileOptions options,
            FileHandle handle, DeviceRecords records, boolean created, SyncOpener syncs)
            throws IOException {
        long sizeBytes = handle.sizeBytes();
        int blockSize = options.blockSize();
        if (sizeBytes == 0) {
            throw empty(path);
        }
        requireSize(path, options, sizeBytes);
        requireMultiple(path, sizeBytes, blockSize, "block size");
        int alignmentBytes = alignmentBytes(real, sizeBytes, options);
        var geometry = new Geometry(blockSize, sizeBytes / blockSize,
                Math.max(PHYSICAL_BLOCK_BYTES, alignmentBytes));
        // Kept even where it punches no holes: to close it would give up a lock that is a POSIX lock.
        LinuxFile file = LinuxFile.open(real, !options.readOnly(), false).orElse(null);
        Durability durability = null;
        boolean opened = false;
        try {
            // First of all: the fsync of a label would take the error of an earlier writeback.
            durability = durability(real, options, file, syncs);
            UUID uuid = new FileIdentity(path, real, file, options, records).find(created);
            HolePuncher puncher = file == null ? null : puncher(file, sizeBytes, options);
            var blocks = new FileBlocks(handle, options.io(), puncher, alignmentBytes);
            // The log belongs to the process that has the lock, and may be in the middle of a write.
            FileAtomics atomics = options.locked()
                    ? FileAtomics.open("file:" + path, real, file, options, blocks, durability)
                    : null;
            var device = new FileDevice("file:" + path, geometry, Identity.of("file", uuid),
                    options, blocks, durability, atomics, Files.getFileStore(real));
            opened = true;
            return device;
        } finally {
            if (!opened && durability != null) {
                durability.close();
            }
            if (!opened && file != null) {
                file.close();
            }
        }
    }

    private static @Nullable Durability durability(Path real, FileOptions options,
            @Nullable LinuxFile file, SyncOpener syncs) throws IOException {
        LostWritesMarker marker = LostWritesMarker.of(real);
        if (options.readOnly()) {
            if (marker.exists()) {
                LOG.log(System.Logger.Level.WARNING,
                        "{0}: acknowledged writes may be lost: {1}", real,
                        marker.text());
            }
            return null;
        }
        return durability(syncs.open(real), "file:" + real, marker, file);
    }

    static Durability durability(DataSync data, String uri, @Nullable LostWritesMarker marker,
            @Nullable LinuxFile file) {
        return new Durability(data, uri, marker, () -> {
            if (file != null) {
                file.dropCache();
            }
        });
    }

    static int alignmentBytes(Path real, long sizeBytes, FileOptions options) throws IOException {
        if (options.io() != FileOptions.Io.DIRECT) {
            return 1;
        }
        long bytes = Files.getFileStore(real).getBlockSize();
        if (bytes > 1 << 16 || Long.bitCount(bytes) != 1) {
            throw new IllegalArgumentException("io=direct is not supported on a file system with"
                    + " blocks of " + bytes + " bytes");
        }
        requireMultiple(real, sizeBytes, bytes, "file system's block size, as io=direct needs");
        return (int) bytes;
    }

    private static void requireMultiple(Path path, long sizeBytes, long unit, String what) {
        if (sizeBytes % unit != 0) {
            throw new IllegalArgumentException(path + " has " + sizeBytes + " bytes ("
                    + Size.format(sizeBytes) + "), not a multiple of " + unit + ", the " + what);
        }
    }

    /** Tests the file system beyond the end of the file, where a hole has no effect. */
    private static HolePuncher puncher(LinuxFile file, long sizeBytes, FileOptions options)
            throws IOException {
        // The holes of a file that is only read can be found all the same.
        boolean punches = !options.readOnly()
                && file.allocate(LinuxFile.PUNCH_HOLE, sizeBytes, PHYSICAL_BLOCK_BYTES);
        return new HolePuncher(file, punches, false);
    }

    static String reason(FileSystemException e) {
        String reason = e.getReason();
        if (reason != null) {
            return reason;
        }
        return e instanceof NoSuchFileException ? "no such file or directory" : "permission denied";
    }
}
