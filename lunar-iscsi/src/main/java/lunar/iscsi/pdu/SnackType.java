package lunar.iscsi.pdu;

import java.util.Optional;
import lunar.iscsi.ProtocolException;

/** Types of SNACK (RFC 7143 section 11.16.1). */
public enum SnackType {
    /** Data-In or R2T PDUs of a task again. */
    DATA_R2T(0, "data or R2T"),
    /** Status numbers again. */
    STATUS(1, "status"),
    /** Nothing: acknowledges Data-In PDUs to BegRun. */
    DATA_ACK(2, "data ACK"),
    /** Retransmit all data of a task, segmented for a smaller MaxRecvDataSegmentLength. */
    R_DATA(3, "R-Data");

    private final int code;
    private final String text;

    SnackType(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** The type with a code, if the RFC defines one. */
    public static Optional<SnackType> of(int code) {
        for (SnackType each : values()) {
            if (each.code == code) {
                return Optional.of(each);
            }
        }
        return Optional.empty();
    }

    /** A text for logs, of codes without a meaning too. */
    public static String describe(int code) {
        return of(code).map(SnackType::text).orElse("unknown code " + code);
    }

    /** The code in the request. */
    public int code() { return code; }

    /** Returns the meaning of this type, for logs. */
    public String text() { return text; }

    static SnackType decode(int code) throws ProtocolException {
        return of(code).orElseThrow(() -> HeaderRule.reserved("SNACK type", code, "11.16.1"));
    }
}
