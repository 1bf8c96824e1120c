package lunar.rdma;

/** Runs {@link MessengerContract} on libfabric's tcp. */
class TcpMessengerTest extends MessengerContract {
    @Override
    RdmaDevice device() throws RdmaUnavailableException { return Rdma.device("libfabric:tcp"); }
}
