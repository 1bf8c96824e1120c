package lunar.iser.connection;

import lunar.rdma.Completion;

/** Handles the completion of a posted operation, to which it is attached; called by the home loop. */
public interface Completed {
    /**
     * Handles the completion; the device no longer accesses the memory of the operation.
     *
     * @param how the completion; valid during the call only
     */
    void completed(Completion how);
}
