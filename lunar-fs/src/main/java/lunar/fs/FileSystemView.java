package lunar.fs;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.util.ArrayList;
import java.util.List;
import lunar.block.BlockDevice;

/**
 * Read-only view of a file system. Path components are separated by {@code /}; a leading one is optional, because all
 * paths start at the root. Thread-safe; see the package for hostile images, memory and live devices.
 *
 * <p>Every method except {@link #info} and {@link #root} may throw a {@link CorruptException}, and a
 * {@link lunar.block.StorageException} of the device.
 */
public sealed interface FileSystemView permits ExtFileSystem, FatFileSystem {
    /** Maximum number of entries of a directory that {@link #list} takes. */
    int MAX_LISTED = 1 << 20;

    /** Bytes that {@link #newInputStream} reads at once. */
    int STREAM_BYTES = 256 << 10;

    /**
     * Opens the file system on a volume.
     *
     * @param device is not closed by the view, and must stay open
     * @throws UnsupportedException if there is no supported file system; the message names what was found
     * @throws CorruptException if it is too damaged to be opened
     */
    static FileSystemView open(BlockDevice device, Volume volume) throws IOException {
        return KnownFormats.open(
                new VolumeReader(device, volume.offsetBytes(), volume.sizeBytes()));
    }

    /** Returns the description of the file system. */
    FileSystemInfo info();

    /** The directory where all paths start. */
    Node root();

    /** Returns the node of an entry of a directory; the link itself where it is one. */
    Node node(DirectoryEntry entry) throws IOException;

    /**
     * Visits the entries of a directory in its own order, without {@code .} and {@code ..}. Entries before a damaged
     * one are visited before the exception is thrown.
     *
     * @throws WrongKindException if it is not a directory
     */
    void visit(Node directory, EntryVisitor visitor) throws IOException;

    /**
     * The content of a file, where any part can be read. Holes read as zeroes.
     *
     * @throws WrongKindException if it is no file
     * @throws UnsupportedException if it is encrypted
     */
    SeekableByteChannel newChannel(Node file) throws IOException;

    /**
     * The target of a symbolic link, which may lead nowhere.
     *
     * @throws WrongKindException if it is no link
     */
    String target(Node symlink) throws IOException;

    /** Whether names that differ in case only are the same. */
    boolean ignoresCase();

    /** The content of a file as a buffered stream. */
    default InputStream newInputStream(Node file) throws IOException {
        return new BufferedInputStream(Channels.newInputStream(newChannel(file)), STREAM_BYTES);
    }

    /**
     * The entries of a directory.
     *
     * @throws CorruptException also when there are more than {@link #MAX_LISTED}
     */
    default List<DirectoryEntry> list(Node directory) throws IOException {
        var entries = new ArrayList<DirectoryEntry>();
        visit(directory, entry -> entries.size() <= MAX_LISTED && entries.add(entry));
        if (entries.size() > MAX_LISTED) {
            throw new CorruptException("a directory has more than " + MAX_LISTED + " entries");
        }
        return entries;
    }

    /** The entries of the directory at a path. */
    default List<DirectoryEntry> list(String path) throws IOException {
        return list(find(path));
    }

    /**
     * Returns the node that a path leads to; symbolic links are followed, and none leads out of the file system.
     *
     * @throws NotFoundException if it leads nowhere, or around in a circle
     */
    default Node find(String path) throws IOException {
        return new PathWalk(this).find(path, true);
    }

    /** Like {@link #find}, but where the path ends in a symbolic link it returns the link. */
    default Node findLink(String path) throws IOException {
        return new PathWalk(this).find(path, false);
    }
}
