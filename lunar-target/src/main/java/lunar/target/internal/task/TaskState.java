package lunar.target.internal.task;

/**
 * The lifecycle of a task. {@link Task} has one state at a time and one method that changes it; all changes are made on
 * the event loop's thread.
 *
 * <table>
 * <caption>States and transitions</caption>
 * <tr><th>state</th><th>next state</th><th>transition</th></tr>
 * <tr><td>IDLE</td><td>HELD</td><td>a command has arrived before one with a lower CmdSN</td></tr>
 * <tr><td></td><td>RECEIVING</td><td>a command has arrived in its turn</td></tr>
 * <tr><td>HELD</td><td>RECEIVING</td><td>its turn by CmdSN has come</td></tr>
 * <tr><td></td><td>ENDED</td><td>it was aborted, or its connection is over: it is dropped</td></tr>
 * <tr><td>RECEIVING</td><td>WAITING</td><td>its data are there, tasks before it are not done or a limit
 * delays it</td></tr>
 * <tr><td></td><td>EXECUTING</td><td>its data are there, its turn in the task set has come, and
 * no limit delays it</td></tr>
 * <tr><td></td><td>COMPLETED</td><td>it was refused, declined or aborted</td></tr>
 * <tr><td>WAITING</td><td>EXECUTING</td><td>its turn in the task set has come, or its delay is over</td></tr>
 * <tr><td></td><td>COMPLETED</td><td>it was refused, declined or aborted</td></tr>
 * <tr><td>EXECUTING</td><td>COMPLETED</td><td>the device server has ended it</td></tr>
 * <tr><td></td><td>LEFT_BEHIND</td><td>it was aborted and fenced, because its device did not complete it</td></tr>
 * <tr><td>LEFT_BEHIND</td><td>ENDED</td><td>the device server has ended it after all</td></tr>
 * <tr><td>COMPLETED</td><td>ENDED</td><td>its answer was handed over, kept at the fence, or omitted</td></tr>
 * <tr><td>ENDED</td><td>GONE</td><td>it has left its task set and its session</td></tr>
 * <tr><td>GONE</td><td>IDLE</td><td>nothing refers to it any longer, so it can be reused</td></tr>
 * </table>
 */
enum TaskState {
    /** No command: new, or kept for reuse. */
    IDLE,
    /** An earlier command is missing; its data may already be arriving. */
    HELD,
    /** Its data is incomplete. */
    RECEIVING,
    /** Its data is complete, but earlier tasks have not ended (SAM-5 section 8.6), or a limit delays it. */
    WAITING,
    /** The device server executes it. */
    EXECUTING,
    /** Aborted, but not completed by its device: only its memory is still held. */
    LEFT_BEHIND,
    /** It has an outcome, or was aborted before it began; it is being answered. */
    COMPLETED,
    /** Ended for everything that waits for it; its data may still be being sent. */
    ENDED,
    /** Removed from the session; its data may still be being sent. */
    GONE;

    /** Whether a task may go from this state to another one. */
    boolean mayBecome(TaskState next) {
        return switch (this) {
            case IDLE -> next == HELD || next == RECEIVING;
            case HELD -> next == RECEIVING || next == ENDED;
            case RECEIVING -> next == WAITING || next == EXECUTING || next == COMPLETED;
            case WAITING -> next == EXECUTING || next == COMPLETED;
            case EXECUTING -> next == COMPLETED || next == LEFT_BEHIND;
            case LEFT_BEHIND, COMPLETED -> next == ENDED;
            case ENDED -> next == GONE;
            case GONE -> next == IDLE;
        };
    }

    /** Whether data-out are taken. */
    boolean takesData() {
        return this == HELD || this == RECEIVING;
    }

    /** Whether the device server has the task. */
    boolean isAtDevice() {
        return this == EXECUTING || this == LEFT_BEHIND;
    }

    /** Whether the task has ended and no device executes it. */
    boolean isEnded() {
        return this == ENDED || this == GONE;
    }
}
