package lunar.fs;

import java.io.IOException;
import java.nio.channels.SeekableByteChannel;

/** View of an ext2, ext3 or ext4 file system. */
final class ExtFileSystem implements FileSystemView {
    private static final long ROOT = 2;
    private static final int MAX_TARGET_BYTES = 4096;

    /** A million entries of the longest names take half of it. */
    private static final long MAX_DIRECTORY_BYTES = 512L << 20;

    /** Number of the directory above, at the start of a directory within its inode. */
    private static final int INLINE_PARENT_BYTES = 4;

    private final VolumeReader volume;
    private final ExtSuperblock superblock;
    private final ExtInodes inodes;
    private final Node root;

    private ExtFileSystem(VolumeReader volume) throws IOException {
        this.volume = volume;
        superblock = ExtSuperblock.read(volume);
        inodes = new ExtInodes(volume, superblock);
        root = inodes.read(ROOT).node();
        if (!root.isDirectory()) {
            throw new CorruptException("the root of the ext file system is not a directory");
        }
    }

    static ExtFileSystem open(VolumeReader volume) throws IOException {
        return new ExtFileSystem(volume);
    }

    @Override
    public FileSystemInfo info() { return superblock.info(); }

    @Override
    public Node root() { return root; }

    @Override
    public boolean ignoresCase() { return false; }

    @Override
    public Node node(DirectoryEntry entry) throws IOException {
        return inodes.read(entry.id()).node();
    }

    @Override
    public void visit(Node directory, EntryVisitor visitor) throws IOException {
        ExtInode inode = inode(directory, Kind.DIRECTORY);
        var entries = new ExtDirectory(inode.number(), superblock.features()
                .isIncompatible(ExtSuperblock.Features.FILE_TYPE), visitor);
        if (inode.hasInlineData()) {
            byte[] data = ExtInlineData.read(inode);
            if (entries.visit(data, INLINE_PARENT_BYTES, ExtInode.BLOCK_AREA_BYTES)) {
                entries.visit(data, ExtInode.BLOCK_AREA_BYTES, data.length);
            }
            return;
        }
        long size = inode.node().sizeBytes();
        if (size > MAX_DIRECTORY_BYTES) {
            throw new CorruptException("directory " + inode.number() + " has " + size
                    + " bytes, more than " + MAX_DIRECTORY_BYTES);
        }
        RunMap map = map(inode);
        byte[] block = new byte[superblock.blockSize()];
        for (long position = 0; position < size;) {
            Run run = map.at(position);
            long end = Math.min(run.end(), size);
            while (!run.isHole() && position < end) {
                volume.read(run.volumeAt() + (position - run.start()), block, 0, block.length);
                if (!entries.visit(block, 0, block.length)) {
                    return;
                }
                position += block.length;
            }
            position = Math.max(position, end);
        }
    }

    @Override
    public SeekableByteChannel newChannel(Node file) throws IOException {
        return new ContentChannel(content(inode(file, Kind.FILE)));
    }

    @Override
    public String target(Node symlink) throws IOException {
        ExtInode inode = inode(symlink, Kind.SYMLINK);
        long size = inode.node().sizeBytes();
        if (size > MAX_TARGET_BYTES) {
            throw new CorruptException(
                    "link " + inode.number() + " has a target of " + size + " bytes");
        }
        if (inode.isShortLink()) {
            return Names.decode(inode.raw(), ExtInode.BLOCK_AREA, (int) size);
        }
        byte[] target = new byte[(int) size];
        Content content = content(inode);
        int at = 0;
        while (at < target.length) {
            at += content.read(at, target, at, target.length - at);
        }
        return Names.decode(target);
    }

    /** Reads the inode again, because a node does not contain the location of its content. */
    private ExtInode inode(Node node, Kind kind) throws IOException {
        ExtInode inode = inodes.read(node.id());
        if (inode.node().kind() != kind) {
            throw new WrongKindException("inode " + node.id() + " is not a " + switch (kind) {
                case DIRECTORY -> "directory";
                case SYMLINK -> "symbolic link";
                default -> "file";
            });
        }
        if (inode.isEncrypted() && kind != Kind.DIRECTORY) {
            throw new UnsupportedException("inode " + node.id() + " is encrypted");
        }
        return inode;
    }

    private Content content(ExtInode inode) throws CorruptException {
        return inode.hasInlineData()
                ? Content.of(ExtInlineData.content(inode))
                : Content.mapped(volume, map(inode), inode.node().sizeBytes());
    }

    private RunMap map(ExtInode inode) {
        var file = new FileBlocks(volume, superblock, inode);
        return inode.hasExtents()
                ? new ExtentTree(file)
                : new BlockPointers(file);
    }
}
