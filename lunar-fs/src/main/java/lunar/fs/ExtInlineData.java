package lunar.fs;

import static lunar.fs.LittleEndian.s32;
import static lunar.fs.LittleEndian.u16;
import static lunar.fs.LittleEndian.u32;
import static lunar.fs.LittleEndian.u8;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Data of a small file or directory in its inode: 60 bytes in place of the block map, and the rest in the attribute
 * {@code system.data} after the fields (Linux, Documentation/filesystems/ext4/ifork.rst and attributes.rst).
 *
 * <pre>
 * attributes   0 EA020000h, then entries, then anything, then values
 * entry        0 length of the name   1 prefix   2 offset of the value, from the first entry   4 inode of the value
 *              8 length of the value  16 name, filled up to four bytes
 * </pre>
 */
final class ExtInlineData {
    private static final int MAGIC = 0xea02_0000;
    private static final int ENTRY_BYTES = 16;
    private static final int SYSTEM = 7;
    private static final byte[] NAME = "data".getBytes(StandardCharsets.US_ASCII);

    private ExtInlineData() {}

    /** Returns the bytes in place of the block map, followed by those of the attribute. */
    static byte[] read(ExtInode inode) throws CorruptException {
        byte[] raw = inode.raw();
        byte[] more = attribute(raw, inode);
        byte[] all = Arrays.copyOfRange(raw, ExtInode.BLOCK_AREA,
                ExtInode.BLOCK_AREA + ExtInode.BLOCK_AREA_BYTES + more.length);
        System.arraycopy(more, 0, all, ExtInode.BLOCK_AREA_BYTES, more.length);
        return all;
    }

    /** Returns the content of a file, of the length in the inode. */
    static byte[] content(ExtInode inode) throws CorruptException {
        byte[] all = read(inode);
        if (inode.node().sizeBytes() > all.length) {
            throw new CorruptException("inode " + inode.number() + " has " + all.length
                    + " bytes of inline data, but its size is " + inode.node().sizeBytes());
        }
        return Arrays.copyOf(all, (int) inode.node().sizeBytes());
    }

    private static byte[] attribute(byte[] raw, ExtInode inode) throws CorruptException {
        int start = inode.extendedBytes();
        if (start + 4 > raw.length || s32(raw, start) != MAGIC) {
            return new byte[0];
        }
        int first = start + 4;
        int at = first;
        while (at + ENTRY_BYTES <= raw.length && s32(raw, at) != 0) {
            int nameBytes = u8(raw, at);
            int next = at + ENTRY_BYTES + (nameBytes + 3) / 4 * 4;
            if (next > raw.length) {
                break;
            }
            boolean wanted = u8(raw, at + 1) == SYSTEM && Arrays.equals(raw, at + ENTRY_BYTES,
                    at + ENTRY_BYTES + nameBytes, NAME, 0, NAME.length);
            if (wanted) {
                int value = first + u16(raw, at + 2);
                long bytes = u32(raw, at + 8);
                if (bytes > raw.length - value || u32(raw, at + 4) != 0) {
                    throw new CorruptException("inode " + inode.number()
                            + " has inline data that exceeds it");
                }
                return Arrays.copyOfRange(raw, value, value + (int) bytes);
            }
            at = next;
        }
        return new byte[0];
    }
}
