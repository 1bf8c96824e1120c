package lunar.iscsi.pdu;

import lunar.iscsi.ProtocolException;
import lunar.scsi.Lun;

/**
 * SNACK Request (RFC 7143 section 11.16): requests retransmission of numbered PDUs, or acknowledges data.
 *
 * @param lun LUN of the Data-In that a DataACK acknowledges, otherwise 0
 * @param itt tag of the task; {@link Bhs#NO_TAG} for status and DataACK
 * @param ttt DataACK: the Data-In's Target Transfer Tag; R-Data: the SNACK Tag; otherwise {@link Bhs#NO_TAG}
 * @param begRun BegRun: the first number; for DataACK the next DataSN expected
 * @param runLength number of PDUs; 0 for all from BegRun on
 */
public record SnackRequest(SnackType type, Lun lun, int itt, int ttt, int expStatSn, int begRun,
        int runLength) implements InitiatorPdu {
    public static final int OPCODE = 0x10;
    public static final int BEG_RUN = 40;
    public static final int RUN_LENGTH = 44;

    private static final int TYPE_MASK = 0x0f;

    public static SnackRequest decode(Bhs bhs) throws ProtocolException {
        HeaderRule.requireFinal(bhs, "SNACK Request", "11.16");
        SnackType type = SnackType.decode(bhs.flags() & TYPE_MASK);
        boolean hasTask = bhs.itt() != Bhs.NO_TAG;
        boolean hasTag = bhs.ttt() != Bhs.NO_TAG;
        int begRun = bhs.int32(BEG_RUN);
        int runLength = bhs.int32(RUN_LENGTH);
        switch (type) {
            case DATA_R2T -> HeaderRule.require(hasTask, "a data SNACK names a task", "11.16.3");
            case STATUS -> HeaderRule.require(!hasTask, "a status SNACK names no task", "11.16.3");
            case DATA_ACK -> {
                HeaderRule.require(!hasTask && hasTag,
                        "a DataACK names a Target Transfer Tag and no task", "11.16.4");
                HeaderRule.require(runLength == 0, "RunLength of a DataACK is 0", "11.16.7");
            }
            case R_DATA -> {
                HeaderRule.require(hasTask && hasTag && bhs.ttt() != 0,
                        "an R-Data SNACK names a task and a SNACK Tag", "11.16.4");
                HeaderRule.require(begRun == 0 && runLength == 0,
                        "BegRun and RunLength of an R-Data SNACK are 0", "11.16.6");
            }
        }
        return new SnackRequest(type, new Lun(bhs.lun()), bhs.itt(), bhs.ttt(),
                bhs.int32(EXP_STAT_SN), begRun, runLength);
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public boolean immediate() { return false; }

    @Override
    public void encode(Bhs bhs) {
        bhs.start(OPCODE, false, HeaderRule.FINAL | type.code()).int64(LUN, lun.value())
                .int32(ITT, itt).int32(TTT, ttt).int32(EXP_STAT_SN, expStatSn)
                .int32(BEG_RUN, begRun).int32(RUN_LENGTH, runLength);
    }
}
