package lunar.rdma;

/** Kind of a work request. */
public enum Operation {
    /** Sends a message, which the peer's next posted receive takes. */
    SEND,
    /** Sends a message and invalidates a key of the peer's memory. */
    SEND_INVALIDATE,
    /** Writes to memory of the peer, which does not notice. */
    WRITE,
    /** Reads memory of the peer, which does not notice. */
    READ,
    /** Takes one message. */
    RECEIVE
}
