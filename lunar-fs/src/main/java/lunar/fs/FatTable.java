package lunar.fs;

import static lunar.fs.LittleEndian.u16;
import static lunar.fs.LittleEndian.u32;

import java.io.IOException;

/** The file allocation table: maps each cluster to its successor in the file. */
final class FatTable {
    /** There is no next cluster. */
    static final long END = -1;

    private static final long MASK_28 = 0x0fff_ffff;

    private final VolumeReader volume;
    private final FatGeometry geometry;

    FatTable(VolumeReader volume, FatGeometry geometry) {
        this.volume = volume;
        this.geometry = geometry;
    }

    FatGeometry geometry() { return geometry; }

    /**
     * Returns the cluster that follows, or {@link #END}.
     *
     * @throws CorruptException if it is free, bad or none: no file continues there
     */
    long next(long cluster) throws IOException {
        long value = entry(cluster);
        long firstEnd = (geometry.bits() == 32 ? MASK_28 : (1L << geometry.bits()) - 1) - 7;
        if (value >= firstEnd) {
            return END;
        }
        if (!geometry.isCluster(value)) {
            throw new CorruptException("the chain of clusters goes from " + cluster + " to "
                    + value + ", which does not exist");
        }
        return value;
    }

    /** Whether a cluster is followed by the next one on the volume. */
    boolean goesOnSideBySide(long cluster) throws IOException {
        return geometry.isCluster(cluster + 1) && entry(cluster) == cluster + 1;
    }

    private long entry(long cluster) throws IOException {
        if (!geometry.isCluster(cluster)) {
            throw new CorruptException("cluster " + cluster + " does not exist");
        }
        return switch (geometry.bits()) {
            case 12 -> {
                int pair = u16(bytes(cluster + cluster / 2, 2), 0);
                yield cluster % 2 == 0 ? pair & 0xfff : pair >> 4;
            }
            case 16 -> u16(bytes(2 * cluster, 2), 0);
            default -> u32(bytes(4 * cluster, 4), 0) & MASK_28;
        };
    }

    private byte[] bytes(long at, int count) throws IOException {
        return volume.read(geometry.tableAt() + at, count);
    }
}
