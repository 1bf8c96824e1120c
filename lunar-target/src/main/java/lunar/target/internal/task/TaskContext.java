package lunar.target.internal.task;

import lunar.iscsi.spi.EventLoop;
import lunar.scsi.target.Nexus;

/** The session of a task, as far as the task needs it. Confined to the event loop's thread. */
interface TaskContext {
    /** Returns the I_T nexus that the session is. */
    Nexus nexus();

    /** Returns the event loop of all connections of the session. */
    EventLoop loop();

    /** Returns the memory for the commands. */
    CommandMemory memory();

    /** Returns the negotiated ErrorRecoveryLevel. */
    int recoveryLevel();

    /** Whether an Asynchronous Message reports tasks that others abort (RFC 7143 section 4.2.3.4). */
    boolean reportsAborts();

    /** Ends a task that is completed: sends its answer and removes it. */
    void completed(Task task);

    /** Ends a task that was left behind: the session has gone on without it. */
    void letGo(Task task);
}
