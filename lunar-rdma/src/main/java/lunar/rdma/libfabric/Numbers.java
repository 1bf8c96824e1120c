package lunar.rdma.libfabric;

/** Constants of libfabric's headers. */
final class Numbers {
    private Numbers() {}

    static final int API_VERSION = 1 << 16 | 17;

    static final long FI_MSG = 1L << 1;
    static final long FI_RMA = 1L << 2;
    static final long FI_READ = 1L << 8;
    static final long FI_WRITE = 1L << 9;
    static final long FI_RECV = 1L << 10;
    static final long FI_TRANSMIT = 1L << 11;
    static final long FI_REMOTE_READ = 1L << 12;
    static final long FI_REMOTE_WRITE = 1L << 13;
    static final long FI_COMPLETION = 1L << 24;
    static final long FI_INJECT = 1L << 25;
    static final long FI_DELIVERY_COMPLETE = 1L << 28;
    static final long FI_NUMERICHOST = 1L << 55;
    static final long FI_SOURCE = 1L << 57;

    static final int FI_SOCKADDR_IN = 2;
    static final int FI_SOCKADDR_IN6 = 3;
    static final int FI_EP_MSG = 1;
    static final int FI_EP_RDM = 3;
    static final int FI_MR_LOCAL = 1 << 2;
    static final int FI_MR_VIRT_ADDR = 1 << 4;
    static final int FI_MR_ALLOCATED = 1 << 5;
    static final int FI_PROGRESS_MANUAL = 2;
    static final int FI_THREAD_SAFE = 1;
    static final int FI_AV_TABLE = 2;
    static final long FI_ORDER_SAS = 1L << 8;

    static final int FI_WAIT_NONE = 0;
    static final int FI_WAIT_FD = 3;
    static final int FI_CQ_FORMAT_MSG = 2;

    static final int FI_GETWAIT = 5;
    static final int FI_ENABLE = 6;
    static final int FI_BACKLOG = 7;

    static final int FI_CONNREQ = 1;
    static final int FI_CONNECTED = 2;
    static final int FI_SHUTDOWN = 3;

    static final int FI_OPT_ENDPOINT = 0;
    static final int FI_OPT_CM_DATA_SIZE = 1;

    // Error numbers, positive: those of Linux, then libfabric's own.
    static final int ENOENT = 2;
    static final int EAGAIN = 11;
    static final int EPERM = 1;
    static final int ESRCH = 3;
    static final int ENOMEM = 12;
    static final int EACCES = 13;
    static final int EFAULT = 14;
    static final int EINVAL = 22;
    static final int EPIPE = 32;
    static final int ENODATA = 61;
    static final int EMSGSIZE = 90;
    static final int EADDRINUSE = 98;
    static final int EADDRNOTAVAIL = 99;
    static final int ENETDOWN = 100;
    static final int ENETUNREACH = 101;
    static final int ECONNABORTED = 103;
    static final int ECONNRESET = 104;
    static final int ENOTCONN = 107;
    static final int ESHUTDOWN = 108;
    static final int ETIMEDOUT = 110;
    static final int ECONNREFUSED = 111;
    static final int EHOSTUNREACH = 113;
    static final int EREMOTEIO = 121;
    static final int ECANCELED = 125;
    static final int EKEYREJECTED = 129;
    static final int FI_ETOOSMALL = 257;
    static final int FI_EAVAIL = 259;
    static final int FI_ETRUNC = 265;
    static final int FI_ENOKEY = 266;
    static final int FI_ENORX = 269;
}
