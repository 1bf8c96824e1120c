package lunar.iscsi.pdu;

import lunar.iscsi.ProtocolException;

/** Stages of a login, the CSG and NSG fields (RFC 7143 sections 6.3 and 11.12.3). */
public enum LoginStage {
    /** 0: authentication. */
    SECURITY(0),
    /** 1: how do we work. */
    OPERATIONAL(1),
    /** 3: the login is over. */
    FULL_FEATURE(3);

    private final int code;

    LoginStage(int code) { this.code = code; }

    /** The code in CSG or NSG. */
    public int code() { return code; }

    /** Whether a login may go from this stage straight to another. */
    public boolean leadsTo(LoginStage next) {
        return this != FULL_FEATURE && next.code > code;
    }

    static LoginStage decode(int code, String field) throws ProtocolException {
        return switch (code) {
            case 0 -> SECURITY;
            case 1 -> OPERATIONAL;
            case 3 -> FULL_FEATURE;
            default -> throw HeaderRule.reserved(field, code, "11.12.3");
        };
    }
}
