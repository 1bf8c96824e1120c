package lunar.store;

import lunar.block.BlockRequest;

/** A way to run some submitted requests other than on a worker. */
interface Shortcut extends AutoCloseable {
    /**
     * Takes the request and tells its end, now or later; or returns false and has done nothing, so that a worker is to
     * do it. Never blocks.
     */
    boolean submit(BlockRequest request);

    /** Fails what waits, and returns when what is in flight has ended. Nothing is taken from then on. */
    @Override
    void close();
}
