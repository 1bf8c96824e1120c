package lunar.rdma;

/** How an operation ended. Every status but {@link #SUCCESS} leaves the endpoint in state ERROR. */
public enum CompletionStatus {
    SUCCESS,
    /** Not performed, or perhaps not performed: the endpoint was closed, disconnected or in state ERROR. */
    FLUSHED,
    /** A message was longer than the receive that took it, or longer than the device can carry. */
    LENGTH_ERROR,
    /** Local memory is not registered for this access, or the range is not within it. */
    LOCAL_ACCESS_ERROR,
    /** The peer's memory is not registered under this key, not for this access, or the range is not within it. */
    REMOTE_ACCESS_ERROR,
    /** The peer could not perform the operation, for example a message too long for its receive. */
    REMOTE_OPERATION_ERROR,
    /** The peer had no receive posted, and the retries for that case are used up. */
    RECEIVER_NOT_READY,
    /** The peer does not answer any more. */
    PEER_LOST,
    /** Any other failure; {@link Completion#providerCode} has the number that the native library gave. */
    PROVIDER_ERROR
}
