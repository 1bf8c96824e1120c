package lunar.rdma;

/** The contract over libfabric's shm. */
class ShmFabricTest extends RdmaContract {
    @Override
    RdmaDevice device() throws RdmaUnavailableException { return Rdma.device("libfabric:shm"); }

    @Override
    int manyConnections() { return 200; } // libfabric maps and fills 16 MB for each
}
