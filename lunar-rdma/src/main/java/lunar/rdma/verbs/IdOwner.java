package lunar.rdma.verbs;

/** Handles the connection events of an id. */
interface IdOwner {
    /** Called by the thread of the channel; may destroy the id. */
    void handle(CmEvent event);
}
