package lunar.rdma;

/** Status of a completion. With every status but {@link #SUCCESS}, the endpoint is in state ERROR. */
public enum CompletionStatus {
    /** The operation has been performed. */
    SUCCESS,
    /** The endpoint was disconnected or in state ERROR; the operation may or may not have been performed. */
    FLUSHED,
    /** A message was longer than the receive that it arrived in, or longer than the device can carry. */
    LENGTH_ERROR,
    /** Local memory is not registered for this access, or the access exceeds the registered region. */
    LOCAL_ACCESS_ERROR,
    /**
     * The remote key is invalid, the peer's memory is not registered for this access, or the access exceeds the region.
     */
    REMOTE_ACCESS_ERROR,
    /** The peer could not perform the operation: for example, its receive was too short for the message. */
    REMOTE_OPERATION_ERROR,
    /** The peer had no receive posted, and the receiver-not-ready (RNR) retries are exhausted. */
    RECEIVER_NOT_READY,
    /** The peer no longer responds. */
    PEER_LOST,
    /** Any other failure; {@link Completion#providerCode} has the error code of the native library. */
    PROVIDER_ERROR
}
