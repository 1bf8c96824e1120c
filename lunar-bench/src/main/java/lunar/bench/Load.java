package lunar.bench;

import java.io.IOException;

/** A way to keep a LUN at work. */
@FunctionalInterface
interface Load {
    LoadResult run(LoadOrder order) throws BenchException, IOException, InterruptedException;
}
