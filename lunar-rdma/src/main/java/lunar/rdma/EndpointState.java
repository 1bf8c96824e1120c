package lunar.rdma;

/** State of an endpoint. It only changes to states that are declared further down. */
public enum EndpointState {
    /** Created; receives can be posted. A connect or accept changes it to CONNECTING. */
    IDLE,
    /** The connection is being established. Changes to CONNECTED, or to ERROR if that fails. */
    CONNECTING,
    /** The connection is established; sends, reads and writes can be posted as well. */
    CONNECTED,
    /**
     * Failed or disconnected: nothing can be posted, and posted operations complete, usually as
     * {@link CompletionStatus#FLUSHED}.
     */
    ERROR,
    /** Closed. */
    CLOSED
}
