package lunar.rdma.verbs;

import lunar.rdma.ProviderException;

/** Error numbers of failed calls, and what they mean for RDMA. */
final class Errno {
    private Errno() {}

    /** Returns the failure of a function. */
    static ProviderException failure(String function, int errno) {
        return new ProviderException(function + ": " + text(errno), errno);
    }

    static String text(int errno) {
        return switch (errno) {
            case Constants.EPERM -> "operation not permitted (EPERM)";
            case Constants.ENOENT -> "no such device (ENOENT)";
            case Constants.ENOMEM ->
                "out of memory, or the limit of locked memory (ulimit -l) is exceeded (ENOMEM)";
            case Constants.EACCES -> "permission denied (EACCES)";
            case Constants.EFAULT -> "bad address (EFAULT)";
            case Constants.EBUSY -> "in use (EBUSY)";
            case Constants.ENODEV -> "no RDMA device (ENODEV)";
            case Constants.ENOSYS -> "the kernel has no RDMA: modprobe ib_uverbs (ENOSYS)";
            case Constants.EINVAL -> "invalid argument, or a limit of the device (EINVAL)";
            case Constants.EADDRINUSE -> "address in use (EADDRINUSE)";
            case Constants.EADDRNOTAVAIL -> "address not available (EADDRNOTAVAIL)";
            case Constants.ENETUNREACH -> "network unreachable (ENETUNREACH)";
            case Constants.ECONNRESET -> "connection reset (ECONNRESET)";
            case Constants.ENOTCONN -> "not connected (ENOTCONN)";
            case Constants.ETIMEDOUT -> "timed out (ETIMEDOUT)";
            case Constants.ECONNREFUSED -> "connection refused (ECONNREFUSED)";
            case Constants.EHOSTUNREACH -> "no route to host (EHOSTUNREACH)";
            default -> "error " + errno;
        };
    }
}
