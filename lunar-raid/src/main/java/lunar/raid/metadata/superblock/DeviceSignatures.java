package lunar.raid.metadata.superblock;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import lunar.block.BlockDevice;
import lunar.block.StorageException;
import lunar.raid.metadata.page.ChunkedTransfer;
import lunar.raid.metadata.page.PagePair;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.SuperblockReading;

/**
 * Detects by signatures whether a device is in use already: a partition table, a file system, a member of a volume.
 * Reads the first and the last bytes only.
 */
public final class DeviceSignatures {
    /** Bytes at the start that are examined; a volume writes over them. */
    public static final int HEAD_BYTES = 320 << 10;
    /** Bytes at the end that are examined. */
    public static final int TAIL_BYTES = 192 << 10;

    private record Signature(String name, int position, ByteBuffer bytes) {
        static Signature text(String name, int position, String text) {
            return new Signature(name, position,
                    ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1)));
        }

        static Signature hex(String name, int position, String hex) {
            return new Signature(name, position, ByteBuffer.wrap(HexFormat.of().parseHex(hex)));
        }

        boolean isIn(ByteBuffer image) {
            return position <= image.capacity() - bytes.capacity()
                    && image.slice(position, bytes.capacity()).equals(bytes);
        }
    }

    private static final String MD = "a member of a Linux RAID (md)";
    private static final String GPT = "a partition table (GPT)";
    private static final String ZFS = "a member of a ZFS pool";

    private static final List<Signature> HEAD = List.of(
            Signature.text("the journal of a Lunar volume", 0, "LUNARJNL"),
            Signature.text("the journal of a Lunar volume", PagePair.STRIDE_BYTES, "LUNARJNL"),
            Signature.text(GPT, 512, "EFI PART"), Signature.text(GPT, 4096, "EFI PART"),
            Signature.hex("an ext2, ext3 or ext4 file system", 1080, "53ef"),
            Signature.text("an XFS file system", 0, "XFSB"),
            Signature.text("a Btrfs file system", 0x10040, "_BHRfS_M"),
            Signature.text("an NTFS file system", 3, "NTFS    "),
            Signature.text("an exFAT file system", 3, "EXFAT   "),
            Signature.text("a FAT file system", 54, "FAT1"),
            Signature.text("a FAT file system", 82, "FAT32"),
            Signature.hex("an F2FS file system", 1024, "1020f5f2"),
            Signature.hex("an encrypted volume (LUKS)", 0, "4c554b53babe"),
            Signature.text("an LVM physical volume", 0, "LABELONE"),
            Signature.text("an LVM physical volume", 512, "LABELONE"),
            Signature.text("swap space", 4086, "SWAPSPACE2"),
            Signature.text("an ISO 9660 file system", 32769, "CD001"),
            Signature.text("a SquashFS file system", 0, "hsqs"),
            Signature.hex("an EROFS file system", 1024, "e2e1f5e0"),
            Signature.hex(MD, 0, "fc4e2ba9"),
            Signature.hex(MD, 4096, "fc4e2ba9"),
            Signature.text("a ReiserFS file system", 0x10034, "ReIsEr"),
            Signature.text("a JFS file system", 32768, "JFS1"),
            Signature.hex("an HFS+ file system", 1024, "482b0004"),
            Signature.text("an APFS container", 32, "NXSB"),
            Signature.hex("a member of a bcache", 4120, "c68573f64e1a45ca8265f57f48ba6d81"),
            Signature.hex("a QEMU image (qcow2)", 0, "514649fb"),
            Signature.hex(ZFS, 128 << 10, "0cb1ba0000000000"),
            Signature.hex(ZFS, 128 << 10, "0000000000bab10c"));

    private static final int MD_OLD_BYTES = 64 << 10;

    private static final int MBR_MARK = 510;
    private static final int MBR_ENTRIES = 446;
    private static final int MBR_ENTRY_BYTES = 16;

    private DeviceSignatures() {}

    /** Returns what is on a device, to follow "it has" in a message; empty if there is no signature. Blocks. */
    public static Optional<String> on(BlockDevice device) throws StorageException {
        switch (new SuperblockStore(device).read()) {
            case SuperblockReading.Found(Superblock found) -> {
                return Optional
                        .of("a member of volume " + found.volume().description().title());
            }
            case SuperblockReading.Damaged _,SuperblockReading.Unknown _ -> {
                return Optional.of("a superblock of a Lunar volume that cannot be read");
            }
            case SuperblockReading.Blank _,SuperblockReading.Unreadable _ -> {
                // Perhaps in other use; a device that cannot be read fails below.
            }
        }
        ByteBuffer head = image(device, 0, HEAD_BYTES);
        for (Signature signature : HEAD) {
            if (signature.isIn(head)) {
                return Optional.of(signature.name());
            }
        }
        if (isMbr(head)) {
            return Optional.of("a partition table (MBR)");
        }
        return atEnd(device);
    }

    /** Like {@link #on}, but only for signatures at the end, which a volume does not write over. */
    public static Optional<String> atEnd(BlockDevice device) throws StorageException {
        long size = device.sizeBytes();
        long from = Math.max(0, size - TAIL_BYTES) / 4096 * 4096;
        ByteBuffer tail = image(device, from, (int) (size - from));
        if (Signature.text(GPT, tail.capacity() - device.blockSize(), "EFI PART").isIn(tail)) {
            return Optional.of("the second copy of a partition table (GPT)");
        }
        // md 0.90: 64 KiB aligned, at least 64 KiB before the end; md 1.0: 8 KiB before the end, 4 KiB aligned.
        long oldMd = size / MD_OLD_BYTES * MD_OLD_BYTES - MD_OLD_BYTES - from;
        long newMd = (size / 512 - 16) / 8 * 8 * 512 - from;
        for (long at : new long[]{oldMd, newMd}) {
            if (at >= 0 && (Signature.hex(MD, (int) at, "fc4e2ba9").isIn(tail)
                    || Signature.hex(MD, (int) at, "a92b4efc").isIn(tail))) {
                return Optional.of(MD);
            }
        }
        return Optional.empty();
    }

    private static boolean isMbr(ByteBuffer head) {
        ByteBuffer bytes = head.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        if (bytes.capacity() < 512 || bytes.getShort(MBR_MARK) != (short) 0xaa55) {
            return false;
        }
        boolean any = false;
        for (int i = 0; i < 4; i++) {
            int at = MBR_ENTRIES + i * MBR_ENTRY_BYTES;
            int flag = bytes.get(at) & 0xff;
            if (flag != 0 && flag != 0x80) {
                return false;
            }
            any |= bytes.get(at + 4) != 0 && bytes.getInt(at + 12) != 0;
        }
        return any;
    }

    private static ByteBuffer image(BlockDevice device, long fromBytes, int bytes)
            throws StorageException {
        int whole = (int) Math.min(bytes, device.sizeBytes() - fromBytes);
        MemorySegment image = Arena.ofAuto().allocate(whole, 4096);
        ChunkedTransfer.read(device, fromBytes, image);
        return image.asByteBuffer();
    }
}
