package lunar.rdma;

/** Blocking calls over libfabric's tcp. */
class TcpMessengerTest extends MessengerContract {
    @Override
    RdmaDevice device() throws RdmaUnavailableException { return Rdma.device("libfabric:tcp"); }
}
