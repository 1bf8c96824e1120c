package lunar.rdma;

/** Runs {@link TwoProcessesContract} on libfabric's tcp. */
class TcpTwoProcessesTest extends TwoProcessesContract {
    @Override
    String device() { return "libfabric:tcp"; }
}
