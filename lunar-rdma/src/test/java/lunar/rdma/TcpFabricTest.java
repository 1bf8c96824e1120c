package lunar.rdma;

/** The contract over libfabric's tcp. */
class TcpFabricTest extends RdmaContract {
    @Override
    RdmaDevice device() throws RdmaUnavailableException { return Rdma.device("libfabric:tcp"); }
}
