package lunar.iscsi;

/** Where a task stands among the others of its set (RFC 7143 section 11.3.1; SAM-5 section 8.6). */
public enum TaskAttribute {
    /** 0: leaves the choice to the target, which treats it as simple. */
    UNTAGGED,
    /** 1. */
    SIMPLE,
    /** 2. */
    ORDERED,
    /** 3. */
    HEAD_OF_QUEUE,
    /** 4: auto contingent allegiance. */
    ACA;

    private static final TaskAttribute[] BY_CODE = values();

    /** The code in the ATTR field. */
    public int code() { return ordinal(); }

    static TaskAttribute decode(int code) throws ProtocolException {
        if (code >= BY_CODE.length) {
            throw HeaderRule.reserved("ATTR", code, "11.3.1");
        }
        return BY_CODE[code];
    }
}
