package lunar.bench.load;

import lunar.bench.harness.BenchException;
import lunar.bench.harness.Stamps;

/** A thread's way to the disk: its requests, each for {@link Stamps#BYTES} bytes. For one thread at a time. */
@FunctionalInterface
public interface Lane {
    /**
     * Reads, or writes, at each of these places, and returns when all is done. What is read is looked at.
     *
     * @param places numbers of {@link Stamps#BYTES} bytes from the start of the disk
     */
    void run(boolean write, int[] places) throws BenchException;
}
