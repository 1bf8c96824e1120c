package lunar.store;

import java.io.IOException;
import java.util.Optional;
import java.util.OptionalLong;
import lunar.block.Extent;
import lunar.block.Geometry;

/**
 * Punches and finds holes. Ranges are zeroed without transferring zeroes: in a file by a hole, on a disk by an UNMAP
 * that must read as zeroes, which not every disk supports; the kernel can zero a range of any disk, by writing if
 * necessary.
 *
 * @param file separate descriptor, closed together with this object
 * @param unmaps whether holes can be punched
 * @param zeroesWithoutHoles whether the kernel can zero a range without deallocating it
 */
record HolePuncher(LinuxFile file, boolean unmaps, boolean zeroesWithoutHoles)
        implements
        AutoCloseable {
    /** Zeroes a range; false if the caller has to write the zeroes. */
    boolean zero(long offsetBytes, long countBytes, boolean deallocate) throws IOException {
        if (deallocate || !zeroesWithoutHoles) {
            return unmaps && file.allocate(LinuxFile.PUNCH_HOLE, offsetBytes, countBytes);
        }
        return file.allocate(LinuxFile.ZERO_RANGE, offsetBytes, countBytes);
    }

    /**
     * The run of blocks from this one on that are alike, as far as the file reaches; empty if that is unknown, as
     * on a disk. A block that is partly in a hole is allocated.
     */
    Optional<Extent> extent(long lba, Geometry geometry) throws IOException {
        int blockSize = geometry.blockSize();
        OptionalLong data = file.nextData(lba * blockSize);
        if (data.isEmpty()) {
            return Optional.empty();
        }
        long first = Math.min(data.getAsLong() / blockSize, geometry.blockCount());
        if (first > lba) {
            return Optional.of(new Extent(lba, first - lba, false));
        }
        OptionalLong hole = file.nextHole(data.getAsLong());
        long end = Math.min(geometry.blockCount(),
                Math.ceilDiv(hole.orElse(geometry.sizeBytes()), blockSize));
        return Optional.of(new Extent(lba, Math.max(1, end - lba), true));
    }

    @Override
    public void close() { file.close(); }
}
