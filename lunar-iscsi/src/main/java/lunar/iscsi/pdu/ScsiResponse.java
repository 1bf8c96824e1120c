package lunar.iscsi.pdu;

import lunar.iscsi.ProtocolException;

/**
 * SCSI Response (RFC 7143 section 11.4; status qualifier: RFC 7144 section 4.1).
 *
 * <pre>
 * Byte/     0       |       1       |       2       |       3       |
 *    0|.|.| 0x21    |1|. .|o|u|O|U|.| Response      | Status        |
 *    8| Status Qualifier              | Reserved                    |
 *   16| Initiator Task Tag                                          |
 *   20| SNACK Tag or Reserved                                       |
 *   24| StatSN                                                      |
 *   28| ExpCmdSN                                                    |
 *   32| MaxCmdSN                                                    |
 *   36| ExpDataSN or Reserved                                       |
 *   40| Bidirectional Read Residual Count or Reserved               |
 *   44| Residual Count or Reserved                                  |
 * </pre>
 *
 * @param response {@link #COMPLETED}, {@link #TARGET_FAILURE} or a vendor's code; only the first has a status
 * @param status the SCSI status byte
 * @param statusQualifier SAM-5 section 5.3.2; 0 for none
 * @param residual O, U and Residual Count
 * @param bidirectionalReadResidual o, u and Bidirectional Read Residual Count
 * @param expDataSn ExpDataSN: number of Data-In and R2T PDUs that the target has sent for the command
 */
public record ScsiResponse(int response, int status, int statusQualifier, Residual residual,
        Residual bidirectionalReadResidual, int itt, int snackTag, int statSn, int expCmdSn,
        int maxCmdSn, int expDataSn) implements TargetPdu {
    public static final int OPCODE = 0x21;
    public static final int RESPONSE = 2;
    public static final int STATUS = 3;
    public static final int STATUS_QUALIFIER = 8;
    public static final int SNACK_TAG = 20;
    public static final int EXP_DATA_SN = 36;
    public static final int BIDIRECTIONAL_READ_RESIDUAL_COUNT = 40;
    public static final int RESIDUAL_COUNT = 44;

    /** Flags in byte 1. */
    public static final int BIDIRECTIONAL_OVERFLOW = 0x10;
    public static final int BIDIRECTIONAL_UNDERFLOW = 0x08;
    public static final int OVERFLOW = 0x04;
    public static final int UNDERFLOW = 0x02;

    /** Response: the command came to its end at the target, well or not. */
    public static final int COMPLETED = 0x00;
    /** Response: the target failed before that. */
    public static final int TARGET_FAILURE = 0x01;
    /** Response: the first of the codes that are a vendor's own. */
    public static final int VENDOR_SPECIFIC = 0x80;

    private static final int RESIDUAL_SHIFT = 1;
    private static final int BIDIRECTIONAL_SHIFT = 3;

    /** Returns the response to a completed command without residual that transferred its data in requested order. */
    public static ScsiResponse completed(int status, int itt, int statSn, int expCmdSn,
            int maxCmdSn, int expDataSn) {
        return new ScsiResponse(COMPLETED, status, 0, Residual.NONE, Residual.NONE, itt, 0, statSn,
                expCmdSn, maxCmdSn, expDataSn);
    }

    public static ScsiResponse decode(Bhs bhs) throws ProtocolException {
        HeaderRule.requireFinal(bhs, "SCSI Response", "11.4.1");
        int flags = bhs.flags();
        return new ScsiResponse(bhs.int8(RESPONSE), bhs.int8(STATUS), bhs.int16(STATUS_QUALIFIER),
                Residual.decode(flags >> RESIDUAL_SHIFT & 3, bhs.int32(RESIDUAL_COUNT)),
                Residual.decode(flags >> BIDIRECTIONAL_SHIFT & 3,
                        bhs.int32(BIDIRECTIONAL_READ_RESIDUAL_COUNT)),
                bhs.itt(), bhs.int32(SNACK_TAG), bhs.int32(STAT_SN), bhs.int32(EXP_CMD_SN),
                bhs.int32(MAX_CMD_SN), bhs.int32(EXP_DATA_SN));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public void encode(Bhs bhs) {
        int flags = HeaderRule.FINAL | residual.flags() << RESIDUAL_SHIFT
                | bidirectionalReadResidual.flags() << BIDIRECTIONAL_SHIFT;
        bhs.start(OPCODE, false, flags).int8(RESPONSE, response).int8(STATUS, status)
                .int16(STATUS_QUALIFIER, statusQualifier).int32(ITT, itt).int32(SNACK_TAG, snackTag)
                .int32(STAT_SN, statSn).int32(EXP_CMD_SN, expCmdSn).int32(MAX_CMD_SN, maxCmdSn)
                .int32(EXP_DATA_SN, expDataSn)
                .int32(BIDIRECTIONAL_READ_RESIDUAL_COUNT, bidirectionalReadResidual.bytes())
                .int32(RESIDUAL_COUNT, residual.bytes());
    }
}
