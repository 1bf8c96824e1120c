package lunar.rdma;

/** State of an endpoint. Transitions go downwards only. */
public enum EndpointState {
    /** Created; receives can be posted. Goes to CONNECTING by a connect or an accept. */
    IDLE,
    /** The connection is being established. Goes to CONNECTED, or to ERROR if that fails. */
    CONNECTING,
    /** Sends, reads and writes can be posted, too. */
    CONNECTED,
    /**
     * Failed or disconnected: nothing can be posted, and what was posted completes, as a rule as
     * {@link CompletionStatus#FLUSHED}.
     */
    ERROR,
    /** Closed. */
    CLOSED
}
