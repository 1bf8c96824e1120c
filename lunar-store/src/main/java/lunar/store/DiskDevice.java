package lunar.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.UUID;
import lunar.block.BusyException;
import lunar.block.DeviceRecords;
import lunar.block.Geometry;
import lunar.block.Identity;
import lunar.block.StorageException;
import lunar.block.WriteProtectedException;
import org.jspecify.annotations.Nullable;

/**
 * Opens a whole disk or a partition, {@code disk:/dev/sdb}, as a {@link FileDevice} on its block special file. Block
 * sizes, write protection and capabilities are read from Linux's {@code /sys/class/block}. A disk that is mounted or
 * part of another device is rejected. Its identity is derived from its unique name ({@link DiskNaming}).
 */
public final class DiskDevice {
    private static final int TYPE_MASK = 0xf000;
    private static final int BLOCK_SPECIAL = 0x6000;

    private DiskDevice() {}

    /**
     * Opens a disk. Its block size is its own; the option is ignored.
     *
     * @throws IllegalArgumentException if this is no disk, with one line for a person
     * @throws BusyException if it is in use
     * @throws WriteProtectedException if it may only be read but is opened for writing
     */
    public static FileDevice open(Path path, FileOptions options) throws StorageException {
        return open(path, options, DeviceRecords.NONE);
    }

    /**
     * Like {@link #open(Path, FileOptions)}, but with records of the disks that were opened before.
     *
     * @throws IllegalArgumentException if this is no disk, with one line for a person
     * @throws BusyException if it is in use
     * @throws WriteProtectedException if it may only be read but is opened for writing
     */
    public static FileDevice open(Path path, FileOptions options, DeviceRecords records)
            throws StorageException {
        try {
            Path real = requireDisk(path);
            Path system = Path.of("/sys/class/block").resolve(real.getFileName());
            if (!options.readOnly() && attribute(system, "ro", 0) != 0) {
                throw new WriteProtectedException(
                        path + " is write-protected; open it with read-only=true");
            }
            LinuxFile own = claim(real, options);
            try {
                FileHandle handle = FileOpening.handle(real, options);
                try {
                    return device(path, real, system, options, handle, own, records);
                } catch (IOException | RuntimeException e) {
                    handle.close();
                    throw e;
                }
            } catch (IOException | RuntimeException e) {
                if (own != null) {
                    own.close();
                }
                throw e;
            }
        } catch (IOException e) {
            throw IoFailure.of(path + " cannot be opened", e);
        }
    }

    /**
     * Checks that this is a disk, without opening it.
     *
     * @throws IllegalArgumentException if it is none, with one line for a person
     */
    static void check(Path path) throws StorageException {
        try {
            var _ = requireDisk(path);
        } catch (IOException e) {
            throw IoFailure.of(path + " cannot be opened", e);
        }
    }

    private static Path requireDisk(Path path) throws IOException {
        int mode;
        try {
            mode = (int) Files.getAttribute(path, "unix:mode");
        } catch (NoSuchFileException e) {
            throw new IllegalArgumentException("no such disk: " + path, e);
        } catch (UnsupportedOperationException e) {
            throw new IllegalArgumentException("disk: is for Linux; use file: here", e);
        }
        if ((mode & TYPE_MASK) != BLOCK_SPECIAL) {
            throw new IllegalArgumentException(
                    path + " is not a disk; a file is opened as file:" + path);
        }
        return path.toRealPath();
    }

    /**
     * Opens the disk exclusively, which prevents other exclusive use such as a mount; returns null if that is not
     * possible, or for read-only use.
     */
    private static @Nullable LinuxFile claim(Path real, FileOptions options) throws IOException {
        if (options.readOnly()) {
            return null;
        }
        try {
            LinuxFile own = LinuxFile.open(real, true, true).orElse(null);
            if (own == null && isMounted(real)) {
                throw new BusyException(real + " is mounted; unmount it first");
            }
            return own;
        } catch (LinuxFile.BusyDisk e) {
            throw new BusyException(real + " is mounted or in use by the system", e);
        }
    }

    private static boolean isMounted(Path real) throws IOException {
        return Files.readAllLines(Path.of("/proc/self/mounts")).stream()
                .anyMatch(line -> line.startsWith(real + " "));
    }

    private static FileDevice device(Path path, Path real, Path system, FileOptions options,
            FileHandle handle, @Nullable LinuxFile own, DeviceRecords records)
            throws IOException {
        // A partition has the queue of its disk, whose folder is the one above.
        Path queue = Files.exists(system.resolve("partition"))
                ? system.toRealPath().resolveSibling("queue")
                : system.resolve("queue");
        int blockSize = (int) attribute(queue, "logical_block_size", 512);
        if (blockSize != 512 && blockSize != 4096) {
            throw new IllegalArgumentException(
                    path + " has blocks of " + blockSize
                            + " bytes; only 512 and 4096 are supported");
        }
        long sizeBytes = handle.sizeBytes();
        if (sizeBytes < blockSize) {
            throw new IllegalArgumentException(path + " has no medium");
        }
        int alignmentBytes = FileOpening.alignmentBytes(real, sizeBytes, options);
        int physical = (int) attribute(queue, "physical_block_size", blockSize);
        boolean unmaps = attribute(queue, "discard_max_bytes", 0) > 0
                && attribute(queue, "write_zeroes_max_bytes", 0) > 0;
        UUID uuid = new DiskIdentity(DiskName.of(system, records), real, options,
                new PathRecords(records, path)).find(legacy(real, system));
        HolePuncher puncher = own == null ? null : new HolePuncher(own, unmaps, true);
        return new FileDevice("disk:" + path,
                new Geometry(blockSize, sizeBytes / blockSize,
                        Math.max(Math.max(blockSize, physical), alignmentBytes)),
                Identity.of("disk", uuid), options,
                new FileBlocks(handle, options.io(), puncher, alignmentBytes),
                options.readOnly()
                        ? null
                        : FileOpening.durability(DataSync.of(real), "disk:" + path, null, own),
                null, null);
    }

    /** The identity of earlier versions; a driver may answer the name with an error. */
    static UUID legacy(Path real, Path system) {
        return DiskIdentity.uuid(
                DiskNaming.attribute(system, "device/wwid").orElseGet(real::toString));
    }

    private static long attribute(Path folder, String name, long otherwise) throws IOException {
        Path file = folder.resolve(name);
        if (!Files.isReadable(file)) {
            return otherwise;
        }
        try {
            return Long.parseLong(Files.readString(file).strip());
        } catch (NumberFormatException e) {
            throw new IOException(file + " is not a number", e);
        }
    }
}
