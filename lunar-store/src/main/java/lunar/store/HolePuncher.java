package lunar.store;

import java.io.IOException;

/**
 * Zeroes ranges without carrying zeroes. In a file that is a hole. On a disk a hole is an UNMAP that must read as
 * zeroes, which not every disk has; the kernel zeroes a range of any disk, by writing where it must.
 *
 * @param file descriptor of our own, closed with this
 * @param unmaps whether holes can be punched
 * @param zeroesWithoutHoles whether the kernel zeroes what is not to be deallocated
 */
record HolePuncher(LinuxFile file, boolean unmaps, boolean zeroesWithoutHoles)
        implements
        AutoCloseable {
    /** Zeroes a range; false where the caller has to write the zeroes. */
    boolean zero(long offsetBytes, long countBytes, boolean deallocate) throws IOException {
        if (deallocate || !zeroesWithoutHoles) {
            return unmaps && file.allocate(LinuxFile.PUNCH_HOLE, offsetBytes, countBytes);
        }
        return file.allocate(LinuxFile.ZERO_RANGE, offsetBytes, countBytes);
    }

    @Override
    public void close() { file.close(); }
}
