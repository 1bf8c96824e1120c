package lunar.isns;

/** Status codes of responses (RFC 4171 section 5.4). */
final class Status {
    static final int SUCCESSFUL = 0;
    static final int MESSAGE_FORMAT_ERROR = 2;
    static final int INVALID_REGISTRATION = 3;
    static final int SOURCE_UNKNOWN = 6;
    static final int SOURCE_ABSENT = 7;
    static final int SOURCE_UNAUTHORIZED = 8;
    static final int NO_SUCH_ENTRY = 9;
    static final int MESSAGE_NOT_SUPPORTED = 15;

    private Status() {}

    /** Returns the meaning of a status, for an operator. */
    static String text(int status) {
        String name = switch (status) {
            case SUCCESSFUL -> "successful";
            case 1 -> "unknown error";
            case MESSAGE_FORMAT_ERROR -> "message format error";
            case INVALID_REGISTRATION ->
                "invalid registration; another entity may own a name or portal of it";
            case 5 -> "invalid query";
            case SOURCE_UNKNOWN -> "source unknown; the querying node is not registered";
            case SOURCE_ABSENT -> "source absent";
            case SOURCE_UNAUTHORIZED -> "source unauthorized";
            case NO_SUCH_ENTRY -> "no such entry";
            case 10 -> "version not supported";
            case 11 -> "internal error";
            case 12 -> "busy";
            case 13 -> "option not understood";
            case 14 -> "invalid update";
            case MESSAGE_NOT_SUPPORTED -> "message not supported";
            case 18 -> "attribute not implemented";
            case 21 -> "ESI not available";
            case 22 -> "invalid deregistration";
            case 23 -> "registration feature not supported";
            default -> "reserved";
        };
        return name + " (status " + Integer.toUnsignedString(status) + ")";
    }
}
