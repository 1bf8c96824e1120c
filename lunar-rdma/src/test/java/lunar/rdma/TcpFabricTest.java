package lunar.rdma;

/** Runs {@link RdmaContract} on libfabric's tcp. */
class TcpFabricTest extends RdmaContract {
    @Override
    RdmaDevice device() throws RdmaUnavailableException { return Rdma.device("libfabric:tcp"); }
}
