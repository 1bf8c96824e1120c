package lunar.fs;

import java.io.IOException;
import java.nio.channels.SeekableByteChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * View of a FAT12, FAT16 or FAT32 file system with long names. A node's id is the position of its entry on the volume,
 * 0 for the root.
 */
final class FatFileSystem implements FileSystemView {
    private static final Node ROOT = new Node(0, Kind.DIRECTORY, 0, Optional.empty(), 0755, 0, 0);

    private final VolumeReader volume;
    private final FatGeometry geometry;
    private final FatTable table;
    private final FileSystemInfo info;

    private FatFileSystem(VolumeReader volume, FatGeometry geometry) throws IOException {
        this.volume = volume;
        this.geometry = geometry;
        table = new FatTable(volume, geometry);
        long id = geometry.volumeId();
        info = new FileSystemInfo(geometry.type(), label(),
                id == 0
                        ? ""
                        : String.format(Locale.ROOT, "%04X-%04X", id >> 16, id & 0xffff),
                geometry.sizeBytes(), geometry.clusterBytes(), notices());
    }

    static FatFileSystem open(VolumeReader volume, FatGeometry geometry) throws IOException {
        return new FatFileSystem(volume, geometry);
    }

    private List<String> notices() {
        var notices = new ArrayList<String>();
        if (!geometry.wasUnmounted()) {
            notices.add("The file system was not unmounted cleanly, or is mounted right now.");
        }
        if (geometry.sizeBytes() > volume.sizeBytes()) {
            notices.add("The file system has " + geometry.sizeBytes()
                    + " bytes, but its volume has only " + volume.sizeBytes()
                    + ": it is truncated.");
        }
        return notices;
    }

    /** The root directory has a newer label than the boot sector. */
    private String label() throws IOException {
        var found = new ArrayList<String>();
        try {
            entries(0, (_, bytes, at, _) -> {
                int attributes = FatEntry.attributes(bytes, at);
                if ((attributes & (FatEntry.VOLUME_LABEL
                        | FatEntry.DIRECTORY)) == FatEntry.VOLUME_LABEL) {
                    found.add(Names.field(bytes, at, 11));
                }
                return found.isEmpty();
            });
        } catch (CorruptException _) {
            return geometry.label(); // listing the directory will report it
        }
        return found.isEmpty() ? geometry.label() : found.getFirst();
    }

    @Override
    public FileSystemInfo info() { return info; }

    @Override
    public Node root() { return ROOT; }

    @Override
    public boolean ignoresCase() { return true; }

    @Override
    public Node node(DirectoryEntry entry) throws IOException {
        if (entry.id() == ROOT.id()) {
            return ROOT;
        }
        byte[] bytes = volume.read(entry.id(), FatEntry.BYTES);
        boolean directory = FatEntry.isDirectory(bytes, 0);
        boolean readOnly = (FatEntry.attributes(bytes, 0) & FatEntry.READ_ONLY) != 0;
        return new Node(entry.id(), directory ? Kind.DIRECTORY : Kind.FILE,
                directory ? 0 : FatEntry.sizeBytes(bytes, 0), FatEntry.modified(bytes, 0),
                (directory ? 0755 : 0644) & (readOnly ? 0555 : 0777), 0, 0);
    }

    @Override
    public void visit(Node directory, EntryVisitor visitor) throws IOException {
        requireKind(directory, Kind.DIRECTORY, "directory");
        entries(directory.id(), (raw, bytes, at, volumeAt) -> {
            String name = Names.componentOfUnits(raw);
            if ((FatEntry.attributes(bytes, at) & FatEntry.VOLUME_LABEL) != 0
                    || !DirectoryEntry.isName(name)) {
                return true;
            }
            return visitor.visit(new DirectoryEntry(name,
                    FatEntry.isDirectory(bytes, at) ? Kind.DIRECTORY : Kind.FILE, volumeAt));
        });
    }

    private void entries(long id, FatDirectory.Visitor visitor) throws IOException {
        var directory = new FatDirectory(volume);
        long cluster = id == ROOT.id() ? geometry.rootCluster() : cluster(id);
        if (id == ROOT.id() && geometry.rootBytes() > 0) {
            directory.visit(_ -> new Run(0, geometry.rootBytes(), geometry.rootAt()),
                    geometry.rootBytes(), visitor);
        } else {
            var chain = new ClusterChain(table, cluster);
            directory.visit(chain, chain.length(FatDirectory.MAX_BYTES), visitor);
        }
    }

    private long cluster(long id) throws IOException {
        return FatEntry.cluster(volume.read(id, FatEntry.BYTES), 0, geometry.bits() == 32);
    }

    @Override
    public SeekableByteChannel newChannel(Node file) throws IOException {
        requireKind(file, Kind.FILE, "file");
        byte[] entry = volume.read(file.id(), FatEntry.BYTES);
        long size = FatEntry.sizeBytes(entry, 0);
        if (size == 0) {
            return new ContentChannel(Content.of(new byte[0]));
        }
        if (size > geometry.clusterCount() * geometry.clusterBytes()) {
            throw new CorruptException("a file has " + size + " bytes, more than the file system");
        }
        var chain = new ClusterChain(table, cluster(file.id()));
        return new ContentChannel(Content.mapped(volume, chain, size));
    }

    @Override
    public String target(Node symlink) throws WrongKindException {
        throw new WrongKindException("FAT has no symbolic links");
    }

    private static void requireKind(Node node, Kind kind, String name) throws WrongKindException {
        if (node.kind() != kind) {
            throw new WrongKindException("the entry at byte " + node.id() + " is not a " + name);
        }
    }
}
