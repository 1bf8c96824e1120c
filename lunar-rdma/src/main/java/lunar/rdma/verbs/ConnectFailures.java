package lunar.rdma.verbs;

import java.net.InetSocketAddress;
import lunar.rdma.ConnectionException;
import lunar.rdma.ConnectionException.Reason;
import lunar.rdma.ProviderException;
import org.jspecify.annotations.Nullable;

/** Translates failed calls and events of the connection set-up. */
final class ConnectFailures {
    /** Reasons of a reject that the InfiniBand connection manager gives (InfiniBand Architecture 12.6.7.2). */
    private static final int NO_LISTENER = 8;
    private static final int BY_PROGRAM = 28;

    private ConnectFailures() {}

    static void requireResolved(InetSocketAddress address) throws ConnectionException {
        if (address.isUnresolved()) {
            throw new ConnectionException("unknown host " + address.getHostString(),
                    Reason.UNREACHABLE);
        }
    }

    static ConnectionException ofListen(InetSocketAddress address, ProviderException failure) {
        Reason reason = switch (failure.code()) {
            case Constants.EADDRINUSE -> Reason.ADDRESS_IN_USE;
            case Constants.EADDRNOTAVAIL, Constants.ENODEV -> Reason.ADDRESS_NOT_LOCAL;
            default -> Reason.OTHER;
        };
        return new ConnectionException("not listening on " + address + ": " + failure.getMessage(),
                reason);
    }

    /** Returns the exception for a failed call of the set-up. */
    static ConnectionException ofCall(@Nullable InetSocketAddress peer, ProviderException failure) {
        return new ConnectionException("no connection with " + peer + ": " + failure.getMessage(),
                ofErrno(failure.code()));
    }

    /** Returns the exception for an event that ends the set-up. */
    static ConnectionException ofEvent(@Nullable InetSocketAddress peer, CmEvent event) {
        String prefix = "no connection with " + peer + ": ";
        int errno = -event.status();
        return switch (event.type()) {
            case Constants.RDMA_CM_EVENT_REJECTED -> rejected(prefix, event);
            case Constants.RDMA_CM_EVENT_DISCONNECTED, Constants.RDMA_CM_EVENT_CONNECT_ERROR ->
                new ConnectionException(prefix + "lost during set-up", Reason.LOST);
            case Constants.RDMA_CM_EVENT_DEVICE_REMOVAL ->
                new ConnectionException(prefix + "the device was removed", Reason.OTHER);
            case Constants.RDMA_CM_EVENT_UNREACHABLE -> new ConnectionException(
                    prefix + "no answer", errno == Constants.ETIMEDOUT
                            ? Reason.TIMEOUT
                            : Reason.UNREACHABLE);
            default -> new ConnectionException(prefix + Errno.text(errno), Reason.UNREACHABLE);
        };
    }

    /** With iWARP the status is an errno; private data show that the peer's application has rejected the request. */
    private static ConnectionException rejected(String prefix, CmEvent event) {
        boolean byProgram = event.status() == BY_PROGRAM
                || (event.status() < 0 && event.privateData().length > 0);
        if (byProgram) {
            return new ConnectionException(prefix + "rejected", Reason.REJECTED,
                    event.privateData());
        }
        if (event.status() == NO_LISTENER || event.status() == -Constants.ECONNREFUSED) {
            return new ConnectionException(prefix + "nothing listens there", Reason.REFUSED);
        }
        return new ConnectionException(prefix + "rejected with reason " + event.status(),
                Reason.OTHER);
    }

    private static Reason ofErrno(int errno) {
        return switch (errno) {
            case Constants.ENODEV, Constants.ENETUNREACH, Constants.EHOSTUNREACH,
                    Constants.EADDRNOTAVAIL ->
                Reason.UNREACHABLE;
            case Constants.ETIMEDOUT -> Reason.TIMEOUT;
            case Constants.ECONNREFUSED -> Reason.REFUSED;
            case Constants.ENOTCONN, Constants.ECONNRESET -> Reason.LOST;
            default -> Reason.OTHER;
        };
    }
}
