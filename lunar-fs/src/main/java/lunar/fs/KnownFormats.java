package lunar.fs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Identifies the content of a volume by its signatures. */
final class KnownFormats {
    /** Something that cannot be read here, but has a name. */
    private record Mark(String name, long position, String text) {
        boolean isOn(VolumeReader volume) throws IOException {
            return volume.startsWith(position, text.getBytes(StandardCharsets.ISO_8859_1));
        }
    }

    private static final List<Mark> OTHERS = List.of(new Mark("NTFS", 3, "NTFS    "),
            new Mark("exFAT", 3, "EXFAT   "), new Mark("XFS", 0, "XFSB"),
            new Mark("Btrfs", 0x10040, "_BHRfS_M"), new Mark("F2FS", 1024, "\u0010 \u00f5\u00f2"),
            new Mark("an encrypted volume (LUKS)", 0, "LUKS\u00ba\u00be"),
            new Mark("an LVM physical volume", 512, "LABELONE"),
            new Mark("swap space", 4086, "SWAPSPACE2"), new Mark("ISO 9660", 32769, "CD001"),
            new Mark("SquashFS", 0, "hsqs"), new Mark("EROFS", 1024, "\u00e2\u00e1\u00f5\u00e0"),
            new Mark("a member of a Linux RAID", 4096, "\u00fcN+\u00a9"),
            new Mark("ReiserFS", 0x10034, "ReIsEr"), new Mark("JFS", 32768, "JFS1"),
            new Mark("HFS+", 1024, "H+\0\u0004"), new Mark("APFS", 32, "NXSB"),
            new Mark(
                    "a QEMU image (qcow2), which 'qemu-img convert -O raw' converts to a raw image",
                    0,
                    "QFI\u00fb"));

    private KnownFormats() {}

    /**
     * Whether there is a FAT boot sector. It is checked before ext: making an ext file system wipes the first sector,
     * while a new FAT may leave the superblock of an older ext in place.
     */
    static boolean isFat(VolumeReader volume) throws IOException {
        return FatGeometry.read(volume).isPresent();
    }

    static FileSystemView open(VolumeReader volume) throws IOException {
        var fat = FatGeometry.read(volume);
        if (fat.isPresent()) {
            return FatFileSystem.open(volume, fat.get());
        }
        if (ExtSuperblock.isThere(volume)) {
            return ExtFileSystem.open(volume);
        }
        for (Mark mark : OTHERS) {
            if (mark.isOn(volume)) {
                throw new UnsupportedException("the volume contains " + mark.name()
                        + ", but only ext2, ext3, ext4 and FAT are supported");
            }
        }
        throw new UnsupportedException(
                "the volume contains no ext2, ext3, ext4 or FAT file system");
    }
}
