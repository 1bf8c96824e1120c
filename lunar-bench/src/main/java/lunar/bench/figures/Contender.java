package lunar.bench.figures;

import lunar.bench.load.Lane;

import lunar.bench.harness.BenchException;
import lunar.bench.harness.Stamps;

/** An initiator that is compared with others at one target: LUN 0, which {@link Stamps#fill} has filled. */
interface Contender extends AutoCloseable {
    /** Returns the label in plots and tables. */
    String label();

    /** A way for one more thread, which waits for each request before it sends the next. */
    Lane blocking() throws BenchException;

    /** A way for one thread that keeps so many requests in flight. */
    Lane queued(int depth) throws BenchException;

    /** Logs out. */
    @Override
    void close();
}
