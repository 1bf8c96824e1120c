package lunar.rdma;

/** Two processes over libfabric's tcp. */
class TcpTwoProcessesTest extends TwoProcessesContract {
    @Override
    String device() { return "libfabric:tcp"; }
}
