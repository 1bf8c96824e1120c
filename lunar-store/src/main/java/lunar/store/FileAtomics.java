package lunar.store;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import lunar.block.DeviceGoneException;
import lunar.block.Identity;
import lunar.block.MediumException;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * Atomic writes to the file of a device: {@link AtomicWrites} with a log next to the file. Each blocks all other
 * requests from its first change of the file until the log is cleared, so that replaying the log cannot overwrite a
 * later write. If one fails half-way and cannot be rolled back, all requests are blocked until it is completed.
 */
final class FileAtomics implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(FileAtomics.class.getName());

    private final String name;
    private final FileBlocks blocks;
    private final Durability durability;
    private final AtomicLogFile log;
    private final AtomicWrites writes;

    private FileAtomics(String name, FileBlocks blocks, Durability durability, AtomicLogFile log,
            AtomicWrites writes) {
        this.name = name;
        this.blocks = blocks;
        this.durability = durability;
        this.log = log;
        this.writes = writes;
    }

    /** The file as atomic writes use it. */
    private record Image(FileBlocks blocks, Durability durability) implements StableBytes {
        @Override
        public void read(long offsetBytes, MemorySegment into) throws IOException {
            blocks.read(offsetBytes, into);
        }

        @Override
        public void write(long offsetBytes, MemorySegment from) throws IOException {
            blocks.write(offsetBytes, from);
        }

        @Override
        public void sync() throws IOException { durability.sync(); }
    }

    /**
     * Completes an atomic write that a crash has interrupted, before the file is used.
     *
     * @param file descriptor of the file; null if the calls are not available
     * @param durability null if the file is read-only
     * @return null if atomic writes are not supported: without a location for the log, and with sendfile, which sends
     *        data while it is being written
     * @throws IllegalArgumentException if the file must not be used in this state, with a message of one line
     */
    static @Nullable FileAtomics open(String name, Path real, @Nullable LinuxFile file,
            FileOptions options, FileBlocks blocks, @Nullable Durability durability)
            throws IOException {
        long image = image(FileBirth.of(real, file));
        try (var left = AtomicLogFile.of(real)) { // a separate one for each use, because it is created on demand
            if (left.exists()) {
                AtomicLog.Entry entry = new AtomicLog(left, image).pending().orElse(null);
                if (entry != null) {
                    requireUsable(entry, image, name, left, durability == null, blocks.sizeBytes());
                }
                if (durability != null && new AtomicWrites(new Image(blocks, durability),
                        new AtomicLog(left, image)).recover()) {
                    LOG.log(System.Logger.Level.INFO,
                            "{0}: completed an atomic write that was interrupted", name);
                }
            }
            if (durability == null || options.io() == FileOptions.Io.SENDFILE
                    || !left.isPossible()) {
                return null;
            }
        }
        var log = AtomicLogFile.of(real);
        return new FileAtomics(name, blocks, durability, log,
                new AtomicWrites(new Image(blocks, durability), new AtomicLog(log, image)));
    }

    private static void requireUsable(AtomicLog.Entry entry, long image, String name,
            AtomicLogFile log, boolean readOnly, long sizeBytes) {
        if (entry.image() != image
                || entry.offsetBytes() + entry.data().byteSize() > sizeBytes) {
            throw new IllegalArgumentException(log.path()
                    + " contains an interrupted write of another file of this name; remove it if "
                    + name + " was restored or copied");
        }
        if (readOnly) {
            throw new IllegalArgumentException(name
                    + " contains an interrupted atomic write; open the file once without read-only=true");
        }
    }

    /** Returns the log's number for the file; another file that takes its name, and its inode, has another. */
    static long image(FileBirth birth) {
        return Identity.uuidOf("atomic-log:" + birth).getMostSignificantBits();
    }

    /** Writes all or nothing; stable when the call returns. */
    void write(RequestLock alone, long offsetBytes, MemorySegment data) throws IOException {
        blocks.reserve(offsetBytes, data.byteSize());
        durability.force(); // what is dirty already, so that the others do not wait for it
        long stamp = alone.writeLock();
        try {
            blocks.requireHeld();
            if (alone.isShut()) {
                throw torn(null);
            }
            writes.write(offsetBytes, data);
            durability.check(); // of what others have lost meanwhile
        } finally {
            alone.shut(writes.isBroken());
            alone.unlockWrite(stamp);
        }
    }

    /** Completes an atomic write that has failed half-way. */
    void mend(RequestLock alone) throws StorageException {
        long stamp = alone.writeLock();
        try {
            blocks.requireHeld();
            if (writes.isBroken()) {
                boolean _ = writes.recover();
            }
        } catch (DeviceGoneException e) {
            throw e;
        } catch (IOException e) {
            throw torn(e);
        } finally {
            alone.shut(writes.isBroken());
            alone.unlockWrite(stamp);
        }
    }

    MediumException torn(@Nullable IOException why) {
        return new MediumException(
                name + ": an atomic write has failed half-way and is not completed"
                        + (why == null ? "" : ": " + why.getMessage()),
                why);
    }

    /** Before the file is closed, and with it given up. The log of a file that is lost may be its new owner's. */
    @Override
    public void close() throws IOException {
        log.close();
        if (!writes.isBroken() && !blocks.isLost()) {
            log.remove();
        }
    }
}
