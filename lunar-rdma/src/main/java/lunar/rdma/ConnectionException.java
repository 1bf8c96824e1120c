package lunar.rdma;

import java.util.Objects;

/** Signals that a connection was not established or was lost, or that an address cannot be listened on. */
public final class ConnectionException extends RdmaException {
    private static final long serialVersionUID = 1;

    /** Reason of the failure. */
    public enum Reason {
        /** Nothing listens at the address. */
        REFUSED,
        /**
         * The peer's application rejected the request; {@link ConnectionException#privateData} has its private data.
         */
        REJECTED,
        /** There is no route to the address, or the device cannot reach it. */
        UNREACHABLE,
        /** No answer came within the time limit. */
        TIMEOUT,
        /** The peer ended the connection or became unreachable, during or after the set-up. */
        LOST,
        /** Another listener uses the local address. */
        ADDRESS_IN_USE,
        /** The local address does not belong to the device. */
        ADDRESS_NOT_LOCAL,
        /** The peer violates the protocol of the connection set-up. */
        PROTOCOL,
        /** Any other reason; the message names it. */
        OTHER
    }

    private final Reason reason;
    private final byte[] privateData;

    public ConnectionException(String message, Reason reason) {
        this(message, reason, new byte[0]);
    }

    /**
     * @param privateData private data of the peer's reject; empty for other reasons
     */
    public ConnectionException(String message, Reason reason, byte[] privateData) {
        super(message, null);
        this.reason = Objects.requireNonNull(reason);
        this.privateData = privateData.clone();
    }

    public Reason reason() { return reason; }

    /** Private data of the peer's reject; empty for other reasons. May be padded with zeros to a fixed length. */
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
