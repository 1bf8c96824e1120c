package lunar.rdma.spi;

import lunar.rdma.RdmaException;
import lunar.rdma.WorkRequest;

/** A receive queue that endpoints share. */
public interface ProviderReceiveQueue extends AutoCloseable {
    /**
     * Posts a receive; never called by two threads at a time.
     *
     * @param id reported with its completion, by {@link RawCompletions#addShared}
     * @return false if there is no room at the moment
     */
    boolean post(WorkRequest request, long id) throws RdmaException;

    @Override
    void close();
}
