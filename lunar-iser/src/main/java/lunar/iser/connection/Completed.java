package lunar.iser.connection;

import lunar.rdma.Completion;

/** Attachment of a posted operation: handles its completion, on the thread of the home loop. */
public interface Completed {
    /**
     * The device is done with the operation.
     *
     * @param how valid during the call
     */
    void completed(Completion how);
}
