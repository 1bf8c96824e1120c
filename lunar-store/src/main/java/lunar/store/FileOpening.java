package lunar.store;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import lunar.block.Geometry;
import lunar.block.Identity;
import lunar.block.Size;
import lunar.block.StorageException;
import lunar.block.WriteProtectedException;
import org.jspecify.annotations.Nullable;

/** What has to be right before a file is a device, each with one line for the person who wrote the URI. */
final class FileOpening {
    private static final int PHYSICAL_BLOCK_BYTES = 4096;

    private FileOpening() {}

    static FileDevice open(Path path, FileOptions options) throws StorageException {
        try {
            requireFile(path, options);
            Path real = path.toRealPath();
            FileHandle handle = handle(real, options);
            try {
                return device(path, real, options, handle);
            } catch (IOException | RuntimeException e) {
                handle.close();
                throw e;
            }
        } catch (IOException e) {
            throw IoFailure.of(path + " cannot be opened", e);
        }
    }

    private static void requireFile(Path path, FileOptions options) throws IOException {
        if (Files.isDirectory(path)) {
            throw new IllegalArgumentException(path + " is a directory, not a file");
        }
        boolean exists = Files.exists(path);
        if (exists && !Files.isRegularFile(path)) {
            throw new IllegalArgumentException(
                    path + " is not a regular file; a disk is opened as disk:" + path);
        }
        if (options.createBytes() == 0) {
            if (!exists) {
                throw new IllegalArgumentException(
                        path + " does not exist; add ?size=1GiB to create it");
            }
        } else if (!exists && options.readOnly()) {
            throw new IllegalArgumentException(
                    path + " does not exist, and read-only=true cannot create it");
        } else if (!exists || (Files.size(path) == 0 && !options.readOnly())) {
            create(path, options.createBytes(), exists);
        }
    }

    /** Makes a sparse file. An empty one that exists is taken, too: nothing in it can be lost. */
    private static void create(Path path, long sizeBytes, boolean exists) throws IOException {
        if (!exists) {
            try {
                Files.createFile(path);
            } catch (NoSuchFileException e) {
                throw new IllegalArgumentException(
                        "the folder of " + path + " does not exist", e);
            } catch (FileSystemException e) {
                throw new IllegalArgumentException(path + " cannot be created: " + reason(e), e);
            }
        }
        boolean sized = false;
        try (var file = new RandomAccessFile(path.toFile(), "rw")) {
            file.setLength(sizeBytes);
            sized = true;
        } finally {
            if (!exists && !sized) {
                Files.delete(path);
            }
        }
    }

    /** Opens and locks; the ways in which that fails are told apart. */
    static FileHandle handle(Path real, FileOptions options) throws IOException {
        boolean direct = options.io() == FileOptions.Io.DIRECT;
        try {
            return FileHandle.open(real, !options.readOnly(), direct);
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
            FileHandle handle) throws IOException {
        long sizeBytes = handle.sizeBytes();
        int blockSize = options.blockSize();
        if (sizeBytes == 0) {
            throw new IllegalArgumentException(
                    path + " is empty; add ?size=1GiB to give it blocks");
        }
        if (options.createBytes() != 0 && options.createBytes() != sizeBytes) {
            throw new IllegalArgumentException(path + " exists with " + sizeBytes
                    + " bytes, not the size=" + options.createBytes() + " asked for");
        }
        requireMultiple(path, sizeBytes, blockSize, "block size");
        int alignmentBytes = alignmentBytes(real, sizeBytes, options);
        var geometry = new Geometry(blockSize, sizeBytes / blockSize,
                Math.max(PHYSICAL_BLOCK_BYTES, alignmentBytes));
        var uuid = Identity.uuidOf("file:" + real);
        var blocks = new FileBlocks(handle, options.io(), puncher(real, sizeBytes, options),
                alignmentBytes);
        return new FileDevice("file:" + path, geometry, Identity.of("file", uuid), options,
                blocks, Files.getFileStore(real), real);
    }

    static int alignmentBytes(Path real, long sizeBytes, FileOptions options) throws IOException {
        if (options.io() != FileOptions.Io.DIRECT) {
            return 1;
        }
        long bytes = Files.getFileStore(real).getBlockSize();
        if (bytes > 1 << 16 || Long.bitCount(bytes) != 1) {
            throw new IllegalArgumentException("io=direct is not possible on a file system with"
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

    /**
     * Asks the file system beyond the end, where a hole changes nothing. Where it has none the descriptor is kept all
     * the same: to close it would give up the lock.
     */
    private static @Nullable HolePuncher puncher(Path real, long sizeBytes, FileOptions options)
            throws IOException {
        LinuxFile file = LinuxFile.open(real, !options.readOnly(), false).orElse(null);
        if (file == null) {
            return null;
        }
        if (options.readOnly()) {
            return new HolePuncher(file, false, false); // its holes can be found all the same
        }
        try {
            boolean punches = file.allocate(LinuxFile.PUNCH_HOLE, sizeBytes,
                    PHYSICAL_BLOCK_BYTES);
            return new HolePuncher(file, punches, false);
        } catch (IOException e) {
            file.close();
            throw e;
        }
    }

    static String reason(FileSystemException e) {
        String reason = e.getReason();
        return reason == null ? "permission denied" : reason;
    }
}
