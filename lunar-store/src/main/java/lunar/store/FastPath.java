package lunar.store;

import lunar.block.BlockRequest;

/** A faster way to execute some submitted requests than a worker. */
interface FastPath extends AutoCloseable {
    /**
     * Accepts the request and completes it, now or later; or returns false without effect, so that a worker must
     * execute it. Never blocks.
     */
    boolean submit(BlockRequest request);

    /** Fails waiting requests, and returns when those in flight have completed. Accepts no further requests. */
    @Override
    void close();
}
