package lunar.iscsi.pdu;

import lunar.iscsi.ProtocolException;

/** Ordering of a task within its task set (RFC 7143 section 11.3.1; SAM-5 section 8.6). */
public enum TaskAttribute {
    /** Leaves the choice to the target, which treats it as simple. */
    UNTAGGED(0),
    /** In any order among other simple tasks. */
    SIMPLE(1),
    /** After all earlier tasks and before all later ones. */
    ORDERED(2),
    /** Before all others. */
    HEAD_OF_QUEUE(3),
    /** During an auto contingent allegiance. */
    ACA(4);

    private final int code;

    TaskAttribute(int code) { this.code = code; }

    /** The code in the ATTR field. */
    public int code() { return code; }

    static TaskAttribute decode(int code) throws ProtocolException {
        return switch (code) {
            case 0 -> UNTAGGED;
            case 1 -> SIMPLE;
            case 2 -> ORDERED;
            case 3 -> HEAD_OF_QUEUE;
            case 4 -> ACA;
            default -> throw HeaderRule.reserved("ATTR", code, "11.3.1");
        };
    }
}
