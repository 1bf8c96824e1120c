package lunar.fs;

import static lunar.fs.LittleEndian.u16;
import static lunar.fs.LittleEndian.u32;
import static lunar.fs.LittleEndian.u8;

import java.io.IOException;
import java.util.Optional;

/**
 * Geometry from the boot sector of a FAT file system (Microsoft, FAT32 File System Specification 1.03, "Boot Sector and
 * BPB"). FAT32 is recognised by a 16-bit table size of zero, as in Linux.
 *
 * @param bits of an entry of the table: 12, 16 or 32
 * @param clusterBytes 512 to 524,288
 * @param clusterCount clusters go from 2 to this plus one
 * @param tableAt offset of the active table
 * @param tableBytes its length
 * @param rootAt offset of the root directory of FAT12 and FAT16
 * @param rootBytes its length, 0 on FAT32
 * @param rootCluster first cluster of the root directory of FAT32
 * @param dataAt offset of cluster 2
 * @param sizeBytes bytes of the file system
 * @param wasUnmounted whether the boot sector marks it as unmounted cleanly
 * @param label in the boot sector
 * @param volumeId in the boot sector
 */
record FatGeometry(int bits, int clusterBytes, long clusterCount, long tableAt, long tableBytes,
        long rootAt, int rootBytes, long rootCluster, long dataAt, long sizeBytes,
        boolean wasUnmounted, String label, long volumeId) {
    static final int FIRST_CLUSTER = 2;

    private static final int SECTOR = 512;
    private static final int ENTRY_BYTES = 32;
    private static final int MAX_FAT12_CLUSTERS = 4084;
    private static final int MAX_FAT16_CLUSTERS = 65524;
    private static final long MAX_FAT32_CLUSTERS = (1L << 28) - 16;
    private static final int DIRTY = 1;

    /** The geometry; empty if the sector is no FAT boot sector. */
    static Optional<FatGeometry> read(VolumeReader volume) throws IOException {
        if (!volume.has(0, SECTOR)) {
            return Optional.empty();
        }
        byte[] boot = volume.read(0, SECTOR);
        int sectorBytes = u16(boot, 11);
        int clusterSectors = u8(boot, 13);
        int reserved = u16(boot, 14);
        int tables = u8(boot, 16);
        int media = u8(boot, 21);
        long shortTable = u16(boot, 22);
        long tableSectors = shortTable != 0 ? shortTable : u32(boot, 36);
        long sectors = u16(boot, 19) != 0 ? u16(boot, 19) : u32(boot, 32);
        int jump = u8(boot, 0);
        boolean plausible = (jump == 0xeb || jump == 0xe9) && Integer.bitCount(sectorBytes) == 1
                && sectorBytes >= SECTOR && sectorBytes <= 4096
                && Integer.bitCount(clusterSectors) == 1 && reserved > 0 && tables > 0
                && (media == 0xf0 || media >= 0xf8) && tableSectors > 0;
        if (!plausible) {
            return Optional.empty();
        }
        boolean wide = shortTable == 0;
        int rootBytes = u16(boot, 17) * ENTRY_BYTES;
        long rootSectors = (rootBytes + sectorBytes - 1L) / sectorBytes;
        long rootSector = reserved + tables * tableSectors;
        long clusters = (sectors - rootSector - rootSectors) / clusterSectors;
        if (clusters < 1 || wide != (rootBytes == 0)) {
            return Optional.empty();
        }
        int bits = wide ? 32 : clusters <= MAX_FAT12_CLUSTERS ? 12 : 16;
        long most = switch (bits) {
            case 12 -> MAX_FAT12_CLUSTERS;
            case 16 -> MAX_FAT16_CLUSTERS;
            default -> MAX_FAT32_CLUSTERS;
        };
        long inTable = tableSectors * sectorBytes * 8 / bits - FIRST_CLUSTER;
        int extended = wide ? 64 : 36; // drive number, flags, signature, volume ID, label
        boolean told = u8(boot, extended + 2) == 0x29;
        int active = wide && (u16(boot, 40) & 0x80) != 0 ? u16(boot, 40) & 0xf : 0;
        return Optional.of(new FatGeometry(bits, clusterSectors * sectorBytes,
                Math.max(0, Math.min(Math.min(clusters, inTable), most)),
                (reserved + (active < tables ? active : 0) * tableSectors) * sectorBytes,
                tableSectors * sectorBytes, rootSector * sectorBytes, wide ? 0 : rootBytes,
                wide ? u32(boot, 44) : 0, (rootSector + rootSectors) * sectorBytes,
                sectors * sectorBytes, (u8(boot, extended + 1) & DIRTY) == 0,
                told ? label(boot, extended + 7) : "", told ? u32(boot, extended + 3) : 0));
    }

    private static String label(byte[] boot, int at) {
        String label = Names.field(boot, at, 11);
        return label.equals("NO NAME") ? "" : label;
    }

    String type() { return "FAT" + bits; }

    boolean isCluster(long number) {
        return number >= FIRST_CLUSTER && number < clusterCount + FIRST_CLUSTER;
    }

    /** Where a cluster is on the volume. */
    long position(long cluster) {
        assert isCluster(cluster) : "cluster " + cluster;
        return dataAt + (cluster - FIRST_CLUSTER) * clusterBytes;
    }
}
