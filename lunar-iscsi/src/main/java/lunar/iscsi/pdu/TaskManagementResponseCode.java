package lunar.iscsi.pdu;

import java.util.Optional;

/** Outcomes of a task management function (RFC 7143 section 11.6.1, RFC 7144 section 4.3). */
public enum TaskManagementResponseCode {
    /** Done; for a query: there is no such task or event. */
    FUNCTION_COMPLETE(0, "function complete"),
    /** The referenced task is not there. */
    TASK_DOES_NOT_EXIST(1, "task does not exist"),
    /** The logical unit is not there. */
    LUN_DOES_NOT_EXIST(2, "LUN does not exist"),
    /** The task still belongs to another connection. */
    TASK_STILL_ALLEGIANT(3, "task still allegiant"),
    /** This target moves no tasks. */
    REASSIGNMENT_NOT_SUPPORTED(4, "task allegiance reassignment not supported"),
    /** This target does not know the function. */
    FUNCTION_NOT_SUPPORTED(5, "task management function not supported"),
    /** This initiator may not. */
    AUTHORIZATION_FAILED(6, "function authorization failed"),
    /** A query found a task (RFC 7144). */
    FUNCTION_SUCCEEDED(7, "function succeeded"),
    /** Refused for another reason. */
    FUNCTION_REJECTED(255, "function rejected");

    private final int code;
    private final String text;

    TaskManagementResponseCode(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** The response with a code, if the RFCs define one. */
    public static Optional<TaskManagementResponseCode> of(int code) {
        for (TaskManagementResponseCode each : values()) {
            if (each.code == code) {
                return Optional.of(each);
            }
        }
        return Optional.empty();
    }

    /** A text for logs, of codes without a meaning too. */
    public static String describe(int code) {
        return of(code).map(TaskManagementResponseCode::text).orElse("unknown code " + code);
    }

    /** The code in the response. */
    public int code() { return code; }

    /** Returns the meaning of this code, for logs. */
    public String text() { return text; }
}
