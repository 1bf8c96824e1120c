package lunar.bench.load;

import lunar.bench.harness.BenchException;

import java.io.IOException;

/** Generates load on a LUN. */
@FunctionalInterface
interface Load {
    LoadResult run(LoadOrder order) throws BenchException, IOException, InterruptedException;
}
