package lunar.bench.load;

import lunar.bench.harness.BenchException;
import lunar.bench.harness.Stamps;

/** A thread's access to the disk, by requests of {@link Stamps#BYTES} bytes. Not thread-safe. */
@FunctionalInterface
public interface Lane {
    /**
     * Reads, or writes, at each of these places, and returns when all is done. What is read is looked at.
     *
     * @param places numbers of {@link Stamps#BYTES} bytes from the start of the disk
     */
    void run(boolean write, int[] places) throws BenchException;
}
