package lunar.iscsi.login;

/** How completions of tasks relate to task management: the TaskReporting key (RFC 7143 section 13.23). */
public enum TaskReporting {
    RFC3720("RFC3720"), RESPONSE_FENCE("ResponseFence"), FAST_ABORT("FastAbort");

    private final String text;

    TaskReporting(String text) { this.text = text; }

    /** The value of the key. */
    public String text() { return text; }
}
