package lunar.iscsi.pdu;

import lunar.iscsi.ProtocolException;
import lunar.scsi.Lun;

/**
 * SCSI Data-In (RFC 7143 section 11.7): data of a command that reads, and possibly the status of a successful one.
 *
 * <pre>
 * Byte/     0       |       1       |       2       |       3       |
 *    0|.|.| 0x25    |F|A|0 0 0|O|U|S| Reserved      | Status or Rsvd|
 *    8| LUN or Reserved                                             |
 *   16| Initiator Task Tag                                          |
 *   20| Target Transfer Tag or 0xffffffff                           |
 *   24| StatSN or Reserved                                          |
 *   28| ExpCmdSN                                                    |
 *   32| MaxCmdSN                                                    |
 *   36| DataSN                                                      |
 *   40| Buffer Offset                                               |
 *   44| Residual Count                                              |
 * </pre>
 *
 * @param isFinal F: the last of its sequence
 * @param acknowledge A: requests a DataACK from the initiator (error recovery level above 0)
 * @param hasStatus S: the PDU replaces the SCSI Response; without it status, residual and statSn are 0
 * @param lun valid with a Target Transfer Tag
 * @param ttt tag which the DataACK returns, {@link Bhs#NO_TAG} if none is requested
 * @param dataSn DataSN, from 0 in each command
 * @param bufferOffsetBytes Buffer Offset, unsigned
 */
public record DataIn(boolean isFinal, boolean acknowledge, boolean hasStatus, int status,
        Residual residual, Lun lun, int itt, int ttt, int statSn, int expCmdSn, int maxCmdSn,
        int dataSn, int bufferOffsetBytes) implements TargetPdu {
    public static final int OPCODE = 0x25;
    public static final int STATUS = 3;
    public static final int DATA_SN = 36;
    public static final int BUFFER_OFFSET = 40;
    public static final int RESIDUAL_COUNT = 44;

    /** Flags in byte 1, beside F. */
    public static final int ACKNOWLEDGE = 0x40;
    public static final int OVERFLOW = 0x04;
    public static final int UNDERFLOW = 0x02;
    public static final int HAS_STATUS = 0x01;

    private static final int RESIDUAL_SHIFT = 1;

    public DataIn {
        if ((hasStatus && !isFinal) || (acknowledge && ttt == Bhs.NO_TAG)) {
            throw new IllegalArgumentException("S without F, or A without a tag, itt=" + itt);
        }
        if (!hasStatus) {
            status = 0;
            residual = Residual.NONE;
            statSn = 0;
        }
    }

    public static DataIn decode(Bhs bhs) throws ProtocolException {
        int flags = bhs.flags();
        boolean hasStatus = (flags & HAS_STATUS) != 0;
        boolean acknowledge = (flags & ACKNOWLEDGE) != 0;
        HeaderRule.require(!hasStatus || bhs.isFinal(), "S of a Data-In requires F", "11.7.1");
        HeaderRule.require(!acknowledge || bhs.ttt() != Bhs.NO_TAG,
                "A of a Data-In requires a Target Transfer Tag", "11.7.4");
        Residual residual = hasStatus
                ? Residual.decode(flags >> RESIDUAL_SHIFT & 3, bhs.int32(RESIDUAL_COUNT))
                : Residual.NONE;
        return new DataIn(bhs.isFinal(), acknowledge, hasStatus, bhs.int8(STATUS), residual,
                new Lun(bhs.lun()), bhs.itt(), bhs.ttt(), bhs.int32(STAT_SN),
                bhs.int32(EXP_CMD_SN), bhs.int32(MAX_CMD_SN), bhs.int32(DATA_SN),
                bhs.int32(BUFFER_OFFSET));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public void encode(Bhs bhs) {
        int flags = (isFinal ? HeaderRule.FINAL : 0) | (acknowledge ? ACKNOWLEDGE : 0)
                | residual.flags() << RESIDUAL_SHIFT | (hasStatus ? HAS_STATUS : 0);
        bhs.start(OPCODE, false, flags).int8(STATUS, status).int64(LUN, lun.value())
                .int32(ITT, itt).int32(TTT, ttt).int32(STAT_SN, statSn).int32(EXP_CMD_SN, expCmdSn)
                .int32(MAX_CMD_SN, maxCmdSn).int32(DATA_SN, dataSn)
                .int32(BUFFER_OFFSET, bufferOffsetBytes).int32(RESIDUAL_COUNT, residual.bytes());
    }
}
