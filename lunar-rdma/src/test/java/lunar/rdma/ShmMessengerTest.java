package lunar.rdma;

/** Runs {@link MessengerContract} on libfabric's shm. */
class ShmMessengerTest extends MessengerContract {
    @Override
    RdmaDevice device() throws RdmaUnavailableException { return Rdma.device("libfabric:shm"); }
}
