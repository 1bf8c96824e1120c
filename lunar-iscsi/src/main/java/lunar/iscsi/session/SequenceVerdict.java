package lunar.iscsi.session;

import lunar.iscsi.SerialNumbers;

/** Relation of a numbered PDU to the expected number (StatSN, DataSN, R2TSN; RFC 7143 section 4.2.2). */
public enum SequenceVerdict {
    /** It is the expected one. */
    IN_ORDER,
    /** It has come before: to be dropped. */
    DUPLICATE,
    /** Earlier numbers are missing: the end of the connection at ErrorRecoveryLevel 0, a SNACK above. */
    GAP;

    public static SequenceVerdict of(int expected, int actual) {
        if (actual == expected) {
            return IN_ORDER;
        }
        return SerialNumbers.lessThan(actual, expected) ? DUPLICATE : GAP;
    }
}
