package lunar.bench.load;

import lunar.bench.harness.BenchException;

import java.io.IOException;

/** A way to keep a LUN at work. */
@FunctionalInterface
interface Load {
    LoadResult run(LoadOrder order) throws BenchException, IOException, InterruptedException;
}
