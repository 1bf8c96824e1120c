package lunar.iscsi.pdu;

import java.util.Optional;

/** Reasons of a Reject (RFC 7143 section 11.17.1). */
public enum RejectReason {
    /** The data digest was wrong; the initiator may send the PDU again. */
    DATA_DIGEST_ERROR(2, "data digest error"),
    /** The PDU that the SNACK asks for cannot be sent again. */
    SNACK_REJECT(3, "SNACK reject"),
    /** The PDU breaks a rule of the protocol. */
    PROTOCOL_ERROR(4, "protocol error"),
    /** The target does not know the opcode. */
    COMMAND_NOT_SUPPORTED(5, "command not supported"),
    /** The immediate command is lost; the initiator may try later. */
    TOO_MANY_IMMEDIATE(6, "too many immediate commands"),
    /** There is a task with this tag already. */
    TASK_IN_PROGRESS(7, "task in progress"),
    /** The DataACK was not asked for. */
    INVALID_DATA_ACK(8, "invalid data ACK"),
    /** A field has a value which makes no sense. */
    INVALID_PDU_FIELD(9, "invalid PDU field"),
    /** No Target Transfer Tag is left; the initiator may try later. */
    LONG_OPERATION_REJECT(10, "long operation reject"),
    /** Deprecated by RFC 7143. */
    NEGOTIATION_RESET(11, "negotiation reset"),
    /** Only a Logout Request is accepted. */
    WAITING_FOR_LOGOUT(12, "waiting for logout");

    private final int code;
    private final String text;

    RejectReason(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** The reason with a code, if the RFC defines one. */
    public static Optional<RejectReason> of(int code) {
        for (RejectReason each : values()) {
            if (each.code == code) {
                return Optional.of(each);
            }
        }
        return Optional.empty();
    }

    /** A text for logs, of codes without a meaning too. */
    public static String describe(int code) {
        return of(code).map(RejectReason::text).orElse("unknown code " + code);
    }

    /** The code in the Reject. */
    public int code() { return code; }

    /** Returns the meaning of this reason, for logs. */
    public String text() { return text; }
}
