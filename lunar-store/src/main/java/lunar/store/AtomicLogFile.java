package lunar.store;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The file of an {@link AtomicLog}, {@code disk.img.lunar-atomic} in the directory of the image: created at the first
 * atomic write, and removed when the device is closed in order. Not thread-safe.
 */
final class AtomicLogFile implements StableBytes, AutoCloseable {
    /** Appended to the name of the image. */
    static final String SUFFIX = ".lunar-atomic";

    private final Path path;
    /** Null before it is needed. By a RandomAccessFile because an interrupt does not close it. */
    private @Nullable RandomAccessFile file;

    AtomicLogFile(Path path) { this.path = path; }

    /** Returns the log of an image. */
    static AtomicLogFile of(Path image) {
        return new AtomicLogFile(image.resolveSibling(image.getFileName() + SUFFIX));
    }

    Path path() { return path; }

    boolean exists() { return Files.exists(path); }

    /** Whether it can be made where it is to be. */
    boolean isPossible() {
        Path folder = path.toAbsolutePath().getParent();
        return folder != null && Files.isWritable(folder);
    }

    private RandomAccessFile file() throws IOException {
        RandomAccessFile open = file;
        if (open != null) {
            return open;
        }
        boolean fresh = !exists();
        var opened = new RandomAccessFile(path.toFile(), "rw");
        boolean made = false;
        try {
            if (fresh) { // allocate all of its space, so that no write fails for lack of it, and sync its name
                opened.write(new byte[AtomicLog.HEADER_BYTES + AtomicLog.MAX_DATA_BYTES]);
                opened.getFD().sync();
                syncFolder();
            }
            made = true;
        } finally {
            if (!made) {
                opened.close();
                if (fresh) {
                    Files.deleteIfExists(path);
                }
            }
        }
        file = opened;
        return opened;
    }

    private void syncFolder() throws IOException {
        boolean interrupted = Thread.interrupted(); // which would close the channel
        try (FileChannel folder = FileChannel.open(path.toAbsolutePath().getParent())) {
            folder.force(true);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public void read(long offsetBytes, MemorySegment into) throws IOException {
        byte[] bytes = new byte[(int) into.byteSize()];
        RandomAccessFile open = file();
        open.seek(offsetBytes);
        for (int done = 0; done < bytes.length;) {
            int count = open.read(bytes, done, bytes.length - done);
            if (count < 0) {
                break;
            }
            done += count;
        }
        into.copyFrom(MemorySegment.ofArray(bytes));
    }

    @Override
    public void write(long offsetBytes, MemorySegment from) throws IOException {
        RandomAccessFile open = file();
        open.seek(offsetBytes);
        open.write(from.toArray(ValueLayout.JAVA_BYTE));
    }

    @Override
    public void sync() throws IOException { file().getFD().sync(); }

    /** Removes the log, which is empty or belongs to another image. */
    void remove() throws IOException {
        Files.deleteIfExists(path);
    }

    @Override
    public void close() throws IOException {
        RandomAccessFile open = file;
        if (open != null) {
            open.close();
        }
    }
}
