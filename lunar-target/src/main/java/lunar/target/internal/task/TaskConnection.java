package lunar.target.internal.task;

/**
 * A connection as the tasks that have their allegiance to it see it (RFC 7143 section 4.2.2.1). Confined to the event
 * loop's thread.
 */
public interface TaskConnection {
    /** Returns the connection's number in its session. */
    int cid();

    /** Returns when the peer was last heard. */
    long heardMs();

    /** Whether data can go from a device to the initiator without a buffer, as nothing is kept to be sent again. */
    boolean transfers();

    /** Executes a task if its turn has come and its data are there; otherwise asks for the data. */
    void advance(Task task);

    /** Sends the outcome of a task, unless it is aborted or the connection is over. */
    void answer(Task task);

    /** Sends the outcome of a task that its device has not ended, and keeps the task's buffer. */
    void answerLeftBehind(Task task);

    /** Keeps a finished task, which nothing refers to any more, for reuse. */
    void reuse(Task task);

    /** Whether the connection can be used. */
    boolean isOpen();

    /** Returns the StatSN of the next answer. */
    int nextStatSn();

    /** Whether the initiator has every status before this number. */
    boolean hasAcknowledged(int statSn);

    /** Pings the initiator, which acknowledges by its answer what it has received. */
    void ping();
}
