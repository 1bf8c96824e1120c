package lunar.iscsi.pdu;

import java.util.Optional;

/** Functions of a task management request (RFC 7143 section 11.5.1, RFC 7144 section 4.2). */
public enum TaskManagementFunction {
    /** Ends the task which the Referenced Task Tag names. */
    ABORT_TASK(1, "abort task"),
    /** Ends all tasks of this session on the logical unit. */
    ABORT_TASK_SET(2, "abort task set"),
    /** Ends the auto contingent allegiance. */
    CLEAR_ACA(3, "clear ACA"),
    /** Ends all tasks in the task set, of whatever session. */
    CLEAR_TASK_SET(4, "clear task set"),
    /** Resets the logical unit. */
    LOGICAL_UNIT_RESET(5, "logical unit reset"),
    /** Resets all logical units of the target. */
    TARGET_WARM_RESET(6, "target warm reset"),
    /** Resets all logical units and ends all connections to the target. */
    TARGET_COLD_RESET(7, "target cold reset"),
    /** Moves the referenced task to this connection (error recovery level 2). */
    TASK_REASSIGN(8, "task reassign"),
    /** Queries whether the referenced task exists. */
    QUERY_TASK(9, "query task"),
    /** Asks whether this session has any task on the logical unit. */
    QUERY_TASK_SET(10, "query task set"),
    /** Resets all logical units for this session alone. */
    I_T_NEXUS_RESET(11, "I_T nexus reset"),
    /** Asks whether a unit attention or deferred error waits. */
    QUERY_ASYNCHRONOUS_EVENT(12, "query asynchronous event");

    private final int code;
    private final String text;

    TaskManagementFunction(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** The function with a code, if the RFCs define one. */
    public static Optional<TaskManagementFunction> of(int code) {
        for (TaskManagementFunction each : values()) {
            if (each.code == code) {
                return Optional.of(each);
            }
        }
        return Optional.empty();
    }

    /** A text for logs, of codes without a meaning too. */
    public static String describe(int code) {
        return of(code).map(TaskManagementFunction::text).orElse("unknown code " + code);
    }

    /** The code in the request. */
    public int code() { return code; }

    /** Returns the meaning of this function, for logs. */
    public String text() { return text; }

    /** Whether the Referenced Task Tag names a task; with the other functions it is 0xffffffff. */
    public boolean refersToTask() {
        return switch (this) {
            case ABORT_TASK, TASK_REASSIGN, QUERY_TASK -> true;
            case ABORT_TASK_SET, CLEAR_ACA, CLEAR_TASK_SET, LOGICAL_UNIT_RESET, TARGET_WARM_RESET,
                    TARGET_COLD_RESET, QUERY_TASK_SET, I_T_NEXUS_RESET, QUERY_ASYNCHRONOUS_EVENT ->
                false;
        };
    }
}
