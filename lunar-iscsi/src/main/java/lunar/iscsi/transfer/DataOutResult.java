package lunar.iscsi.transfer;

/**
 * Result of receiving a piece of write data at the target ({@link WriteTransfer}). The first three accept it; the
 * others are violations. If {@link #senseCode} is not 0 the RFC ends the task with CHECK CONDITION, key ABORTED
 * COMMAND, and that code (section 11.4.7.2); otherwise the connection cannot continue.
 */
public enum DataOutResult {
    /** Taken; its sequence continues. */
    MORE(0, "more of the sequence follows"),
    /** Accepted; it ended its sequence, and others will follow. An R2T may be due. */
    SEQUENCE_DONE(0, "the sequence is complete"),
    /** Accepted; all expected data has arrived. */
    COMPLETE(0, "all data received"),

    /** Unsolicited data that negotiation or the F bit ruled out (sections 13.10, 13.11, 11.3.1). */
    UNEXPECTED_UNSOLICITED(0x0c0c, "unexpected unsolicited data (RFC 7143 section 11.4.7.2)"),
    /** F came before the burst was complete, or not at its end (section 11.7.1), or data exceed FirstBurstLength. */
    INCORRECT_AMOUNT(0x0c0d, "incorrect amount of data (RFC 7143 section 11.4.7.2)"),
    /** Data-Out PDUs are missing (section 7.9). */
    DATA_SN_GAP(0x4705, "DataSN is not the next of its sequence (RFC 7143 section 7.9)"),

    /** The tag is of no outstanding R2T of this task (section 11.7.3). */
    UNKNOWN_TTT(0, "Target Transfer Tag of no outstanding R2T (RFC 7143 section 11.7.3)"),
    /** The sequence is not the one that DataSequenceInOrder puts next (section 13.19). */
    SEQUENCE_OUT_OF_ORDER(0, "sequence out of order (RFC 7143 section 13.19)"),
    /** The offset is not the one that DataPDUInOrder puts next (section 13.18). */
    OFFSET_OUT_OF_ORDER(0, "Buffer Offset out of order (RFC 7143 section 13.18)"),
    /** The data is outside the range of the R2T or the first burst (section 11.7.5). */
    OUT_OF_BOUNDS(0, "data outside their sequence (RFC 7143 section 11.7.5)"),
    /** The data have come before. */
    OVERLAP(0, "data received before (RFC 7143 section 13.18)"),
    /** An empty Data-Out without F, which moves nothing. */
    EMPTY(0, "empty Data-Out without F (RFC 7143 section 11.7)"),
    /** More pieces out of order at once than are followed; a limit of this implementation. */
    TOO_SCATTERED(0, "too many pieces out of order");

    private final int senseCode;
    private final String rule;

    DataOutResult(int senseCode, String rule) {
        this.senseCode = senseCode;
        this.rule = rule;
    }

    /** Whether the data were taken. */
    public boolean accepted() {
        return compareTo(COMPLETE) <= 0;
    }

    /** ASC in the upper, ASCQ in the lower byte, of a failure that ends the task only; 0 for all else. */
    public int senseCode() {
        return senseCode;
    }

    /** Returns the description of this result, with the section of the RFC. */
    public String rule() {
        return rule;
    }
}
