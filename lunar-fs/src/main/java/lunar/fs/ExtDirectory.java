package lunar.fs;

import static lunar.fs.LittleEndian.u16;
import static lunar.fs.LittleEndian.u32;
import static lunar.fs.LittleEndian.u8;

/**
 * Reads the entries in a block of a directory (Linux, Documentation/filesystems/ext4/directory.rst). The inner nodes of
 * a hash tree, and the checksum at a block's end, look like unused entries, so all blocks are read in the same way.
 *
 * <pre>
 * 0  inode, 0 if unused      4  bytes to the next entry      6  length of the name      7  kind      8  name
 * </pre>
 */
final class ExtDirectory {
    private static final int HEADER_BYTES = 8;
    private static final Kind[] KINDS = {Kind.UNKNOWN, Kind.FILE, Kind.DIRECTORY,
            Kind.CHARACTER_DEVICE, Kind.BLOCK_DEVICE, Kind.FIFO, Kind.SOCKET, Kind.SYMLINK};

    private final long directory;
    private final boolean hasKinds;
    private final EntryVisitor visitor;

    ExtDirectory(long directory, boolean hasKinds, EntryVisitor visitor) {
        this.directory = directory;
        this.hasKinds = hasKinds;
        this.visitor = visitor;
    }

    /** @return whether the visitor wants to continue */
    boolean visit(byte[] bytes, int from, int to) throws CorruptException {
        int at = from;
        while (at + HEADER_BYTES <= to) {
            int length = length(u16(bytes, at + 4), to - from);
            int nameBytes = u8(bytes, at + 6);
            boolean used = u32(bytes, at) != 0;
            if (length < HEADER_BYTES || length % 4 != 0 || length > to - at
                    || (used && HEADER_BYTES + nameBytes > length)) {
                throw new CorruptException(
                        "directory " + directory + " has a damaged entry");
            }
            if (used && !visitEntry(bytes, at, nameBytes)) {
                return false;
            }
            at += length;
        }
        return true;
    }

    /** In blocks of 64 KiB, where 16 bits do not suffice, the lower two bits are the highest. */
    private static int length(int stored, int blockBytes) {
        if (blockBytes < 0x10000) {
            return stored;
        }
        return stored == 0 || stored == 0xffff ? blockBytes : (stored & ~3) | ((stored & 3) << 16);
    }

    private boolean visitEntry(byte[] bytes, int at, int nameBytes) {
        String name = Names.component(Names.decode(bytes, at + HEADER_BYTES, nameBytes));
        if (!DirectoryEntry.isName(name)) {
            return true;
        }
        int kind = hasKinds ? u8(bytes, at + 7) : 0;
        return visitor.visit(new DirectoryEntry(name,
                kind < KINDS.length ? KINDS[kind] : Kind.UNKNOWN, u32(bytes, at)));
    }
}
