package lunar.target.internal.task;

/**
 * View of a connection for the tasks with allegiance to it (RFC 7143 section 4.2.2.1). Confined to the event loop's
 * thread.
 */
public interface TaskConnection {
    /** Returns the CID. */
    int cid();

    /** Returns when the peer was last active. */
    long heardMs();

    /** Whether a device can send data to the initiator without a buffer, because nothing is kept for retransmission. */
    boolean transfers();

    /** Executes a task if its turn has come and its data is complete; otherwise requests the data. */
    void advance(Task task);

    /** Sends the outcome of a task, unless it is aborted or the connection has ended. */
    void answer(Task task);

    /** Sends the outcome of a task that its device has not completed, and keeps the task's buffer. */
    void answerLeftBehind(Task task);

    /** Notes that a task ends without an answer. */
    void unanswered(Task task);

    /** Notes that a command was dropped, for which there is no task. */
    void dropped(int itt);

    /** Keeps a finished task, which nothing refers to any longer, for reuse. */
    void reuse(Task task);

    /** Whether the connection can be used. */
    boolean isOpen();

    /** Returns the StatSN of the next answer. */
    int nextStatSn();

    /** Whether the initiator has acknowledged every status before this StatSN. */
    boolean hasAcknowledged(int statSn);

    /** Pings the initiator, whose reply acknowledges the responses that it has received. */
    void ping();
}
