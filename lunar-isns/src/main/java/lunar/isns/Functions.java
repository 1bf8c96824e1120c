package lunar.isns;

/** Function identifiers of messages (RFC 4171 section 4.1.3). */
final class Functions {
    static final int DEV_ATTR_REG = 0x0001;
    static final int DEV_ATTR_QRY = 0x0002;
    static final int DEV_DEREG = 0x0004;
    static final int SCN = 0x0008;
    static final int ESI = 0x000d;
    static final int HEARTBEAT = 0x000e;

    /** Set in a response to the request of the function in the other bits (section 5.1.2). */
    static final int RESPONSE = 0x8000;

    private Functions() {}

    static boolean isResponse(int function) { return (function & RESPONSE) != 0; }

    /** Returns the name of a function, for an operator. */
    static String name(int function) {
        String name = switch (function & ~RESPONSE) {
            case DEV_ATTR_REG -> "DevAttrReg";
            case DEV_ATTR_QRY -> "DevAttrQry";
            case DEV_DEREG -> "DevDereg";
            case SCN -> "SCN";
            case ESI -> "ESI";
            case HEARTBEAT -> "Heartbeat";
            default -> "message 0x" + Integer.toHexString(function & ~RESPONSE);
        };
        return isResponse(function) ? name + "Rsp" : name;
    }
}
