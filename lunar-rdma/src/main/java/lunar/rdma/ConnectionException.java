package lunar.rdma;

import java.util.Objects;

/** Signals that a connection was not established, or that an address cannot be listened on. */
public final class ConnectionException extends RdmaException {
    private static final long serialVersionUID = 1;

    /** Why there is no connection. */
    public enum Reason {
        /** Nothing listens at the address. */
        REFUSED,
        /** The peer's program rejected the request; {@link ConnectionException#privateData} has what it said. */
        REJECTED,
        /** No route leads to the address, or the device cannot reach it. */
        UNREACHABLE,
        /** No answer came within the time limit. */
        TIMEOUT,
        /** The peer went away, or ended the connection, before it was established. */
        LOST,
        /** Another listener has the local address. */
        ADDRESS_IN_USE,
        /** The local address does not belong to the device. */
        ADDRESS_NOT_LOCAL,
        /** The peer's connection set-up breaks the protocol. */
        PROTOCOL,
        /** Another reason, which the message names. */
        OTHER
    }

    private final Reason reason;
    private final byte[] privateData;

    public ConnectionException(String message, Reason reason) {
        this(message, reason, new byte[0]);
    }

    /**
     * @param privateData of the peer's reject; otherwise empty
     */
    public ConnectionException(String message, Reason reason, byte[] privateData) {
        super(message, null);
        this.reason = Objects.requireNonNull(reason);
        this.privateData = privateData.clone();
    }

    public Reason reason() { return reason; }

    /** Private data of the reject; empty for other reasons. May be padded with zeros to a fixed length. */
    public byte[] privateData() {
        return privateData.clone();
    }

    @Override
    public boolean retryable() {
        return switch (reason) {
            case REFUSED, UNREACHABLE, TIMEOUT, LOST, ADDRESS_IN_USE -> true;
            case REJECTED, ADDRESS_NOT_LOCAL, PROTOCOL, OTHER -> false;
        };
    }
}
