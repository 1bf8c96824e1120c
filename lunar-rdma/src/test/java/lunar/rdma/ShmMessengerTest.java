package lunar.rdma;

/** Blocking calls over libfabric's shm. */
class ShmMessengerTest extends MessengerContract {
    @Override
    RdmaDevice device() throws RdmaUnavailableException { return Rdma.device("libfabric:shm"); }
}
