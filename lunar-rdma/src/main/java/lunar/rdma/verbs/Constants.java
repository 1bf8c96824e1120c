package lunar.rdma.verbs;

/**
 * Constants of {@code infiniband/verbs.h}, {@code rdma/rdma_cma.h} and libc by their names there. A test compares each
 * with what a C program prints.
 */
final class Constants {
    static final int IBV_ACCESS_LOCAL_WRITE = 1;
    static final int IBV_ACCESS_REMOTE_WRITE = 2;
    static final int IBV_ACCESS_REMOTE_READ = 4;
    static final int IBV_DEVICE_MEM_MGT_EXTENSIONS = 2097152;
    static final int IBV_EVENT_CQ_ERR = 0;
    static final int IBV_EVENT_QP_FATAL = 1;
    static final int IBV_EVENT_QP_REQ_ERR = 2;
    static final int IBV_EVENT_QP_ACCESS_ERR = 3;
    static final int IBV_EVENT_COMM_EST = 4;
    static final int IBV_EVENT_DEVICE_FATAL = 8;
    static final int IBV_EVENT_PORT_ACTIVE = 9;
    static final int IBV_EVENT_PORT_ERR = 10;
    static final int IBV_EVENT_SRQ_ERR = 14;
    static final int IBV_EVENT_QP_LAST_WQE_REACHED = 16;
    static final int IBV_LINK_LAYER_ETHERNET = 2;
    static final int IBV_PORT_ACTIVE = 4;
    static final int IBV_QPS_ERR = 6;
    static final int IBV_QPT_RC = 2;
    static final int IBV_QP_STATE = 1;
    static final int IBV_SEND_INLINE = 8;
    static final int IBV_SEND_SIGNALED = 2;
    static final int IBV_TRANSPORT_IWARP = 1;
    static final int IBV_WC_SUCCESS = 0;
    static final int IBV_WC_LOC_LEN_ERR = 1;
    static final int IBV_WC_LOC_PROT_ERR = 4;
    static final int IBV_WC_WR_FLUSH_ERR = 5;
    static final int IBV_WC_LOC_ACCESS_ERR = 8;
    static final int IBV_WC_REM_INV_REQ_ERR = 9;
    static final int IBV_WC_REM_ACCESS_ERR = 10;
    static final int IBV_WC_REM_OP_ERR = 11;
    static final int IBV_WC_RETRY_EXC_ERR = 12;
    static final int IBV_WC_RNR_RETRY_EXC_ERR = 13;
    static final int IBV_WC_REM_ABORT_ERR = 16;
    static final int IBV_WC_RESP_TIMEOUT_ERR = 20;
    static final int IBV_WC_RECV = 128;
    static final int IBV_WC_WITH_INV = 8;
    static final int IBV_WR_RDMA_WRITE = 0;
    static final int IBV_WR_SEND = 2;
    static final int IBV_WR_RDMA_READ = 4;
    static final int IBV_WR_SEND_WITH_INV = 9;
    static final int RDMA_PS_TCP = 262;
    static final int RDMA_CM_EVENT_ADDR_RESOLVED = 0;
    static final int RDMA_CM_EVENT_ROUTE_RESOLVED = 2;
    static final int RDMA_CM_EVENT_CONNECT_REQUEST = 4;
    static final int RDMA_CM_EVENT_CONNECT_ERROR = 6;
    static final int RDMA_CM_EVENT_UNREACHABLE = 7;
    static final int RDMA_CM_EVENT_REJECTED = 8;
    static final int RDMA_CM_EVENT_ESTABLISHED = 9;
    static final int RDMA_CM_EVENT_DISCONNECTED = 10;
    static final int RDMA_CM_EVENT_DEVICE_REMOVAL = 11;
    static final int RDMA_CM_EVENT_ADDR_CHANGE = 14;
    static final int RDMA_CM_EVENT_TIMEWAIT_EXIT = 15;
    static final int EACCES = 13;
    static final int EADDRINUSE = 98;
    static final int EADDRNOTAVAIL = 99;
    static final int EAGAIN = 11;
    static final int EBUSY = 16;
    static final int ECONNREFUSED = 111;
    static final int ECONNRESET = 104;
    static final int EFAULT = 14;
    static final int EHOSTUNREACH = 113;
    static final int EINTR = 4;
    static final int EINVAL = 22;
    static final int ENETUNREACH = 101;
    static final int ENODEV = 19;
    static final int ENOENT = 2;
    static final int ENOMEM = 12;
    static final int ENOSYS = 38;
    static final int ENOTCONN = 107;
    static final int EPERM = 1;
    static final int ETIMEDOUT = 110;
    static final int F_GETFL = 3;
    static final int F_SETFL = 4;
    static final int O_NONBLOCK = 2048;

    private Constants() {}
}
