package lunar.rdma;

/** Kind of the operation that a {@link WorkRequest} describes. */
public enum Operation {
    /** Sends a message, which arrives in the oldest receive that the peer has posted. */
    SEND,
    /** Sends a message and invalidates an STag (remote key) of the peer: Send with Invalidate. */
    SEND_INVALIDATE,
    /** Writes to memory of the peer without involving its program: RDMA write. */
    WRITE,
    /** Reads memory of the peer without involving its program: RDMA read. */
    READ,
    /** Receives one message. */
    RECEIVE
}
