package lunar.isns;

/** Tags of attributes and the formats of their values (RFC 4171 section 6.1). */
final class Tags {
    static final int DELIMITER = 0;
    static final int ENTITY_IDENTIFIER = 1;
    static final int ENTITY_PROTOCOL = 2;
    static final int MANAGEMENT_ADDRESS = 3;
    static final int TIMESTAMP = 4;
    static final int REGISTRATION_PERIOD = 6;
    static final int PORTAL_ADDRESS = 16;
    static final int PORTAL_PORT = 17;
    static final int PORTAL_NAME = 18;
    static final int NODE_NAME = 32;
    static final int NODE_TYPE = 33;
    static final int NODE_ALIAS = 34;
    static final int GROUP_NODE_NAME = 48;
    static final int GROUP_ADDRESS = 49;
    static final int GROUP_PORT = 50;
    static final int GROUP_TAG = 51;

    private static final int TEXT_BYTES = 256;
    private static final int NAME_BYTES = 224;

    /** How a value is written. */
    enum Form {
        /** Four bytes. */
        NUMBER,
        /** Eight bytes: seconds since 1970. */
        TIME,
        /** Sixteen bytes, an IPv4 address as an IPv4-mapped one. */
        ADDRESS,
        /** UTF-8, ended by a NUL and filled with them. */
        TEXT,
        /** Bytes that mean nothing to us. */
        OPAQUE
    }

    private Tags() {}

    static Form form(int tag) {
        return switch (tag) {
            case ENTITY_PROTOCOL, REGISTRATION_PERIOD, PORTAL_PORT, NODE_TYPE, GROUP_PORT,
                    GROUP_TAG ->
                Form.NUMBER;
            case TIMESTAMP -> Form.TIME;
            case MANAGEMENT_ADDRESS, PORTAL_ADDRESS, GROUP_ADDRESS -> Form.ADDRESS;
            case ENTITY_IDENTIFIER, PORTAL_NAME, NODE_NAME, NODE_ALIAS, GROUP_NODE_NAME ->
                Form.TEXT;
            default -> Form.OPAQUE;
        };
    }

    /** The longest value of a text, with its NUL. */
    static int maxTextBytes(int tag) {
        return tag == NODE_NAME || tag == GROUP_NODE_NAME ? NAME_BYTES : TEXT_BYTES;
    }
}
