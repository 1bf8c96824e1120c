package lunar.fs;

import static lunar.fs.LittleEndian.s32;
import static lunar.fs.LittleEndian.u16;
import static lunar.fs.LittleEndian.u32;

import java.time.Instant;
import java.util.Optional;

/**
 * An inode of ext (Linux, Documentation/filesystems/ext4/inodes.rst). Fields beyond 128 bytes exist only within
 * {@code i_extra_isize}.
 */
final class ExtInode {
    /** Where the block map, the extents, a short target or the first data are. */
    static final int BLOCK_AREA = 0x28;
    static final int BLOCK_AREA_BYTES = 60;

    private static final int BASE_BYTES = 128;
    private static final int ENCRYPTED = 0x800;
    private static final int EXTENTS = 0x80000;
    private static final int INLINE_DATA = 0x1000_0000;

    private final long number;
    private final byte[] raw;
    private final Node node;

    ExtInode(long number, byte[] raw, boolean largeDirectories) throws CorruptException {
        this.number = number;
        this.raw = raw;
        int mode = u16(raw, 0);
        Kind kind = kind(mode);
        long size = u32(raw, 4);
        if (kind == Kind.FILE || (kind == Kind.DIRECTORY && largeDirectories)) {
            size |= u32(raw, 0x6c) << 32;
        }
        if (size < 0) {
            throw new CorruptException("inode " + number + " has an impossible size");
        }
        node = new Node(number, kind, size, Optional.of(time(0x10, 0x88)), mode & 07777,
                u16(raw, 2) | ((long) u16(raw, 0x78) << 16),
                u16(raw, 0x18) | ((long) u16(raw, 0x7a) << 16));
    }

    private static Kind kind(int mode) {
        return switch (mode >> 12) {
            case 1 -> Kind.FIFO;
            case 2 -> Kind.CHARACTER_DEVICE;
            case 4 -> Kind.DIRECTORY;
            case 6 -> Kind.BLOCK_DEVICE;
            case 8 -> Kind.FILE;
            case 10 -> Kind.SYMLINK;
            case 12 -> Kind.SOCKET;
            default -> Kind.UNKNOWN;
        };
    }

    /** Seconds with a sign; the extra word has two more bits of them, and nanoseconds. */
    private Instant time(int at, int extraAt) {
        long seconds = s32(raw, at);
        if (extraAt + 4 > extendedBytes()) {
            return Instant.ofEpochSecond(seconds);
        }
        long extra = u32(raw, extraAt);
        return Instant.ofEpochSecond(seconds + ((extra & 3) << 32), extra >>> 2);
    }

    /** Bytes with fields, before the attributes that may stand in the inode. */
    int extendedBytes() {
        if (raw.length <= BASE_BYTES) {
            return BASE_BYTES;
        }
        int extra = u16(raw, BASE_BYTES);
        return extra % 4 == 0 && extra <= raw.length - BASE_BYTES ? BASE_BYTES + extra : BASE_BYTES;
    }

    long number() { return number; }

    Node node() { return node; }

    byte[] raw() { return raw; }

    boolean isEncrypted() { return (flags() & ENCRYPTED) != 0; }

    boolean hasExtents() { return (flags() & EXTENTS) != 0; }

    boolean hasInlineData() { return (flags() & INLINE_DATA) != 0; }

    /** Whether a link's target stands in the inode itself. */
    boolean isShortLink() {
        return node.isSymlink() && node.sizeBytes() < BLOCK_AREA_BYTES && !hasExtents()
                && !hasInlineData();
    }

    private int flags() { return s32(raw, 0x20); }
}
