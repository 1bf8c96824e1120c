package lunar.target.internal.task;

import lunar.iscsi.spi.EventLoop;
import lunar.scsi.target.Nexus;

/** View of a session for its tasks. Confined to the event loop's thread. */
interface TaskContext {
    /** Returns the I_T nexus that the session is. */
    Nexus nexus();

    /** Returns the event loop of all connections of the session. */
    EventLoop loop();

    /** Returns the memory for the commands. */
    CommandMemory memory();

    /** Returns the negotiated ErrorRecoveryLevel. */
    int recoveryLevel();

    /** Whether an Asynchronous Message reports tasks aborted by other nexuses (RFC 7143 section 4.2.3.4). */
    boolean reportsAborts();

    /** Ends a task that is completed: sends its answer and removes it. */
    void completed(Task task);

    /** Ends a detached task, without which the session has continued. */
    void letGo(Task task);
}
